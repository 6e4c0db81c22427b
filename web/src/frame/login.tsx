import { Button, Center, Code, PasswordInput, Stack, Text, Title } from "@mantine/core";
import { type FormEvent, useState } from "react";

import { useMe } from "~/access";
import { useKey } from "~/api/key";
import { commonWords } from "~/words/common";
import { useWords } from "~/words/words";

export function Login() {
  const w = useWords(commonWords);
  const { key, use } = useKey();
  const me = useMe();
  const [typed, setTyped] = useState("");
  const enter = (event: FormEvent) => {
    event.preventDefault();
    if (!typed.trim()) return;
    use(typed.trim());
    void me.refetch();
  };
  return (
    <Center h="100dvh" p="md" component="main">
      <form className="panel" onSubmit={enter} style={{ maxWidth: 420, width: "100%" }}>
        <Stack>
          <Title order={1} size="h3">
            {w.loginTitle}
          </Title>
          <Text size="sm">{w.loginText}</Text>
          <PasswordInput
            label={w.loginKey}
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value)}
            error={key !== null && !me.isFetching ? w.loginRefused : undefined}
            autoComplete="off"
            data-autofocus
            autoFocus
          />
          <Button type="submit" loading={me.isFetching} disabled={!typed.trim()}>
            {w.loginUse}
          </Button>
          <Code block style={{ whiteSpace: "normal" }}>
            {w.loginHint}
          </Code>
        </Stack>
      </form>
    </Center>
  );
}
