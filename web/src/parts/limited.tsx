/** Fields for texts that may have so many characters. What is too long is kept and told, never cut. */

import { Textarea, type TextareaProps, TextInput, type TextInputProps } from "@mantine/core";
import type { ReactNode } from "react";

import { excessOf, lengthOf } from "~/parts/limits";
import { commonWords } from "~/words/common";
import { useWords } from "~/words/words";

interface Limited {
  value: string;
  most: number;
}

export function LimitedTextarea({ most, ...props }: TextareaProps & Limited) {
  return <Textarea autosize {...props} {...useLimit(props, most)} />;
}

export function LimitedInput({ most, ...props }: TextInputProps & Limited) {
  return <TextInput {...props} {...useLimit(props, most)} />;
}

/** From this share of the limit on it is said how much there is. */
const NEARLY = 0.8;

interface Told {
  value: string;
  error?: ReactNode;
  description?: ReactNode;
}

function useLimit({ value, error, description }: Told, most: number) {
  const w = useWords(commonWords);
  const over = excessOf(value, most);
  const length = lengthOf(value);
  return {
    error: over > 0 ? w.tooLong(over, most) : error,
    description: length >= NEARLY * most ? w.length(length, most) : description,
  };
}
