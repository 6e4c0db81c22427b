import { ActionIcon, Tooltip, useMantineColorScheme } from "@mantine/core";
import { IconLanguage, IconLogout, IconMoon, IconSearch, IconSun } from "@tabler/icons-react";
import { NavLink } from "react-router";

import { useAccess } from "~/access";
import { useKey } from "~/api/key";
import { openPalette } from "~/frame/lazy-palette";
import { pages } from "~/frame/pages";
import { usePreferences } from "~/preferences";
import { commonWords } from "~/words/common";
import { useWords } from "~/words/words";

export function Rail() {
  const w = useWords(commonWords);
  const access = useAccess();
  return (
    <nav className="frame-rail" aria-label={w.pages}>
      <img className="frame-rail-logo" src="./icon.svg" width={32} height={32} alt={w.studio} />
      {pages
        .filter((page) => page.for(access))
        .map(({ name, path, icon: Icon }) => (
          <Tooltip key={path} label={w[name]} position="right" openDelay={300}>
            <NavLink to={path} className="frame-rail-link" aria-label={w[name]}>
              <Icon size={22} aria-hidden />
            </NavLink>
          </Tooltip>
        ))}
      <div className="frame-rail-gap" style={{ flex: 1 }} />
      <Switches />
    </nav>
  );
}

function Switches() {
  const w = useWords(commonWords);
  const { lang, setLang } = usePreferences();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const key = useKey((state) => state.key);
  const dark = colorScheme === "dark";
  // Nothing of this person stays in the tab: no key, no draft, nothing that waits to be sent, nothing that was read.
  const leave = () => {
    sessionStorage.clear();
    location.reload();
  };
  const switches = [
    { label: w.palette, icon: IconSearch, act: openPalette },
    { label: w.languageHint, icon: IconLanguage, act: () => setLang(lang === "zh" ? "en" : "zh") },
    {
      label: dark ? w.lightTheme : w.darkTheme,
      icon: dark ? IconSun : IconMoon,
      act: () => setColorScheme(dark ? "light" : "dark"),
    },
    ...(key ? [{ label: w.signOut, icon: IconLogout, act: leave }] : []),
  ];
  return switches.map(({ label, icon: Icon, act }) => (
    <Tooltip key={label} label={label} position="right" openDelay={300}>
      <ActionIcon variant="subtle" color="gray" size={38} aria-label={label} onClick={() => act()} style={{ flex: "none" }}>
        <Icon size={20} aria-hidden />
      </ActionIcon>
    </Tooltip>
  ));
}
