/** How failures are told: what went wrong, and what to do. */

import { Alert, Button, Stack, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";

import { Problem } from "~/api/client";
import { tell } from "~/parts/corner";
import { usePreferences } from "~/preferences";
import { commonWords } from "~/words/common";
import { sentenceOf } from "~/words/problems";
import { useWords } from "~/words/words";

export function problemText(problem: unknown): string {
  if (!(problem instanceof Problem)) return String(problem);
  const { code, detail, more } = problem;
  return sentenceOf({ code, detail, reason: more.reason }, usePreferences.getState().lang);
}

/** Tell of a failure in a corner of the screen: `onError: showProblem` of a mutation. */
export function showProblem(problem: unknown): void {
  const w = commonWords[usePreferences.getState().lang];
  const closeButtonProps = { "aria-label": w.close };
  void tell({ color: "red", title: w.problem, message: problemText(problem), autoClose: 10_000, closeButtonProps });
}

export function showDone(message: string): void {
  const closeButtonProps = { "aria-label": commonWords[usePreferences.getState().lang].close };
  void tell({ color: "green", message, autoClose: 3_000, closeButtonProps });
}

export function ProblemNote({ problem, onRetry }: { problem: unknown; onRetry?: () => void }) {
  const w = useWords(commonWords);
  return (
    <Alert color="red" icon={<IconAlertTriangle aria-hidden />} title={w.problem} role="alert">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{problemText(problem)}</Text>
        {onRetry && (
          <Button size="xs" variant="light" color="red" onClick={onRetry}>
            {w.retry}
          </Button>
        )}
      </Stack>
    </Alert>
  );
}
