/** Bodies: which there are, what they can do, what goes over the broker, and a robot to try all of it with. */

import { Loader, Stack, Tabs, Text, Title } from "@mantine/core";
import { useState } from "react";
import { useParams } from "react-router";

import { useAccess } from "~/access";
import { CatalogTab } from "~/pages/terminals/catalog-tab";
import { EmotionTester } from "~/pages/terminals/emotion-tester";
import { IntentTester } from "~/pages/terminals/intent-tester";
import { MqttLog } from "~/pages/terminals/mqtt-log";
import { TerminalAbout } from "~/pages/terminals/terminal-about";
import { TerminalList } from "~/pages/terminals/terminal-list";
import { useCatalog } from "~/pages/terminals/use-catalog";
import { type Terminal, useTerminals } from "~/pages/terminals/use-terminals";
import { LeaveGuard } from "~/parts/leave";
import { ProblemNote } from "~/parts/problem";
import { RobotPanel } from "~/robot/robot-panel";
import { RobotSettings } from "~/robot/settings";
import { commonWords } from "~/words/common";
import { terminalWords } from "~/words/terminals";
import { useWords } from "~/words/words";

import styles from "./terminals.module.css";

export default function Terminals() {
  const w = useWords(terminalWords);
  const common = useWords(commonWords);
  const { terminalId } = useParams();
  const terminals = useTerminals();
  const [tab, setTab] = useState("about");
  const all = terminals.data ?? [];
  const terminal = terminalId ? all.find((one) => one.terminal_id === terminalId) : all[0];
  return (
    <div className={styles.page}>
      <Title order={1} className="visually-hidden">
        {w.title}
      </Title>
      <div className={styles.column}>
        <nav className="panel" aria-label={w.list}>
          {terminals.isPending && <Loader size="sm" role="img" aria-label={common.loading} />}
          {terminals.error && <ProblemNote problem={terminals.error} onRetry={() => void terminals.refetch()} />}
          {terminals.data && <TerminalList terminals={all} chosen={terminal?.terminal_id} />}
        </nav>
      </div>
      <div className={`panel ${styles.middle}`}>
        <Selected
          key={terminal?.terminal_id ?? ""}
          terminal={terminal}
          missing={terminals.data && terminalId && !terminal ? w.noSuch(terminalId) : null}
          tab={tab}
          onTab={setTab}
        />
      </div>
      <div className={`${styles.column} ${styles.robot}`}>
        <RobotPanel>
          <RobotSettings />
        </RobotPanel>
      </div>
    </div>
  );
}

interface SelectedProps {
  terminal: Terminal | undefined;
  missing: string | null;
  tab: string;
  onTab: (tab: string) => void;
}

function Selected({ terminal, missing, tab, onTab }: SelectedProps) {
  const w = useWords(terminalWords);
  const access = useAccess();
  const catalog = useCatalog(terminal);
  const nothing = <Text c="dimmed">{missing ?? w.choose}</Text>;
  return (
    <Tabs value={tab} onChange={(chosen) => onTab(chosen ?? "about")} className={styles.tabs}>
      <Tabs.List>
        <Tabs.Tab value="about">{w.tabs.about}</Tabs.Tab>
        <Tabs.Tab value="intents">
          {w.tabs.intents}
          {catalog.dirty && <Text span size="xs" c="var(--warn)">{` · ${w.catalog.unsaved}`}</Text>}
        </Tabs.Tab>
        <Tabs.Tab value="try">{w.tabs.try}</Tabs.Tab>
        {access.isTerminal && <Tabs.Tab value="log">{w.tabs.log}</Tabs.Tab>}
      </Tabs.List>
      <LeaveGuard unsaved={catalog.dirty} />
      <Tabs.Panel value="about" className={styles.tab}>
        {terminal ? <TerminalAbout terminal={terminal} onIntents={() => onTab("intents")} /> : nothing}
      </Tabs.Panel>
      <Tabs.Panel value="intents" className={styles.tab} keepMounted={false}>
        {terminal ? <CatalogTab catalog={catalog} /> : nothing}
      </Tabs.Panel>
      <Tabs.Panel value="try" className={styles.tab}>
        <Stack gap="xl">
          {terminal && <IntentTester terminal={terminal} catalog={catalog} />}
          <EmotionTester />
        </Stack>
      </Tabs.Panel>
      {access.isTerminal && (
        <Tabs.Panel value="log" className={styles.tab} keepMounted={false}>
          <MqttLog />
        </Tabs.Panel>
      )}
    </Tabs>
  );
}
