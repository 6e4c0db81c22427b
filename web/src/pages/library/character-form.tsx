import { JsonInput, Select, Stack } from "@mantine/core";

import { MBTI } from "~/parts/mbti";
import { libraryWords } from "~/words/library";
import { useWords } from "~/words/words";
import { type CharacterFields, MOST, MOST_EXAMPLES, MOST_GREETINGS, profileMistake } from "./fields";
import { type FormProps, LongTexts, NameField, SizeLine, TextList } from "./inputs";
import styles from "./library.module.css";

export function CharacterForm(form: FormProps<CharacterFields>) {
  const w = useWords(libraryWords);
  const { fields, change, mistakes, readOnly } = form;
  const texts = [
    { field: "description", label: w.description, hint: w.descriptionHint },
    { field: "base_persona", label: w.persona, hint: w.personaHint, minRows: 6, sized: true },
    { field: "inner_state", label: w.innerState, hint: w.innerStateHint, minRows: 3, sized: true },
  ] as const;
  return (
    <div className={styles.columns}>
      <Stack gap="md">
        <div className={styles.pair}>
          <NameField {...form} />
          <Select
            label={w.mbti}
            placeholder={w.mbtiNone}
            data={MBTI}
            value={fields.mbti_type}
            readOnly={readOnly}
            clearable={!readOnly}
            clearButtonProps={{ "aria-label": w.mbtiNone }}
            searchable
            error={mistakes.mbti_type}
            onChange={(mbti_type) => change({ mbti_type })}
          />
        </div>
        <LongTexts texts={texts} {...form} />
      </Stack>
      <Stack gap="md">
        <TextList
          label={w.greetings}
          hint={w.greetingsHint}
          itemLabel={w.greeting}
          addLabel={w.addGreeting}
          values={fields.greetings}
          most={MOST_GREETINGS}
          maxLength={MOST.greetings}
          readOnly={readOnly}
          error={mistakes.greetings}
          onChange={(greetings) => change({ greetings })}
        />
        <TextList
          label={w.examples}
          hint={w.examplesHint}
          itemLabel={w.example}
          addLabel={w.addExample}
          values={fields.style_examples}
          most={MOST_EXAMPLES}
          maxLength={MOST.style_examples}
          readOnly={readOnly}
          error={mistakes.style_examples}
          sized
          onChange={(style_examples) => change({ style_examples })}
        />
        <Profile {...form} />
      </Stack>
    </div>
  );
}

function Profile({ fields, change, mistakes, readOnly }: FormProps<CharacterFields>) {
  const w = useWords(libraryWords);
  const mistake = profileMistake(fields.profile);
  const said = { json: w.profileJson, object: w.profileObject };
  return (
    <div>
      <JsonInput
        label={w.profile}
        description={w.profileHint}
        value={fields.profile}
        readOnly={readOnly}
        error={mistake ? said[mistake] : mistakes.initial_profile}
        autosize
        minRows={4}
        maxRows={18}
        spellCheck={false}
        classNames={{ input: styles.code }}
        onChange={(profile) => change({ profile })}
      />
      <SizeLine texts={[fields.profile]} />
    </div>
  );
}
