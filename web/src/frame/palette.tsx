/** Ctrl-K: every page, soul and conversation by its name. Loaded when it is first asked for. */

import "@mantine/spotlight/styles.css";

import { useMantineColorScheme } from "@mantine/core";
import { Spotlight, spotlight, type SpotlightActionData } from "@mantine/spotlight";
import { IconLanguage, IconMessage, IconSun, IconUser } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { useNavigate } from "react-router";

import { useAccess } from "~/access";
import { api, ask } from "~/api/client";
import { keys } from "~/api/queries";
import { usePalette } from "~/frame/lazy-palette";
import { pages } from "~/frame/pages";
import { usePreferences } from "~/preferences";
import { commonWords } from "~/words/common";
import { useWords } from "~/words/words";

export function Palette() {
  const w = useWords(commonWords);
  const asked = usePalette((state) => state.asked);
  useEffect(() => spotlight.open(), [asked]);
  const access = useAccess();
  const navigate = useNavigate();
  const { lang, setLang, setSoulId } = usePreferences();
  const { colorScheme, toggleColorScheme } = useMantineColorScheme();
  const souls = useQuery({ queryKey: keys.souls, queryFn: () => ask(api.GET("/v1/souls")) });
  const query = { user_id: access.person, limit: 100 };
  const sessions = useQuery({
    queryKey: [...keys.sessions(), "palette", access.userId],
    queryFn: () => ask(api.GET("/v1/sessions", { params: { query } })),
    enabled: access.isSomebody,
  });
  const actions: SpotlightActionData[] = [
    ...pages
      .filter((page) => page.for(access))
      .map(({ name, path, icon: Icon }) => ({
        id: path,
        label: w[name],
        leftSection: <Icon size={18} aria-hidden />,
        onClick: () => void navigate(path),
      })),
    {
      id: "language",
      label: w.languageHint,
      keywords: [w.language],
      leftSection: <IconLanguage size={18} aria-hidden />,
      onClick: () => setLang(lang === "zh" ? "en" : "zh"),
    },
    {
      id: "theme",
      label: colorScheme === "dark" ? w.lightTheme : w.darkTheme,
      leftSection: <IconSun size={18} aria-hidden />,
      onClick: toggleColorScheme,
    },
    ...(souls.data ?? []).map((soul) => ({
      id: soul.soul_id,
      label: soul.name,
      description: soul.mbti_type,
      leftSection: <IconUser size={18} aria-hidden />,
      onClick: () => {
        setSoulId(soul.soul_id);
        void navigate("/chat");
      },
    })),
    ...(sessions.data ?? []).map((session) => ({
      id: session.session_id,
      label: session.title || session.session_id,
      leftSection: <IconMessage size={18} aria-hidden />,
      onClick: () => {
        setSoulId(session.soul_id);
        void navigate(`/chat/${encodeURIComponent(session.session_id)}`);
      },
    })),
  ];
  return (
    <Spotlight
      actions={actions}
      shortcut={null}
      highlightQuery
      limit={12}
      nothingFound={w.paletteNothing}
      searchProps={{ placeholder: w.paletteSearch, "aria-label": w.palette }}
    />
  );
}
