import { Button, Center, Stack, Text, Title } from "@mantine/core";
import { Link, useRouteError } from "react-router";

import { commonWords } from "~/words/common";
import { useWords } from "~/words/words";

/** A defect of ours on one page leaves the rest of the studio usable. */
export function PageFailed() {
  const w = useWords(commonWords);
  const error = useRouteError();
  return (
    <Center p="xl">
      <Stack align="center" role="alert">
        <Title order={1} size="h3">
          {w.pageFailed}
        </Title>
        <Text c="dimmed">{error instanceof Error ? error.message : String(error)}</Text>
        <Button onClick={() => location.reload()}>{w.reload}</Button>
      </Stack>
    </Center>
  );
}

export function NotFound() {
  const w = useWords(commonWords);
  return (
    <Center p="xl">
      <Stack align="center">
        <Title order={1} size="h3">
          {w.notFound}
        </Title>
        <Button component={Link} to="/chat">
          {w.home}
        </Button>
      </Stack>
    </Center>
  );
}
