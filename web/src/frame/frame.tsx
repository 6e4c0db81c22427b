/** The frame around every page: who may see it, the rail of pages, the connection, and the palette. */

import { Center, Loader } from "@mantine/core";
import { Suspense, useEffect, useRef } from "react";
import { Outlet, useLocation } from "react-router";

import { useMe } from "~/access";
import { Problem } from "~/api/client";
import { useKey } from "~/api/key";
import { ConnectionBanner } from "~/frame/connection";
import { DropAnywhere } from "~/frame/drop";
import { LazyPalette } from "~/frame/lazy-palette";
import { pages } from "~/frame/pages";
import { Rail } from "~/frame/rail";
import { onDemand } from "~/later";
import { startLive, stopLive } from "~/live/live";
import { ProblemNote } from "~/parts/problem";
import { usePreferences } from "~/preferences";
import { commonWords } from "~/words/common";
import { useWords } from "~/words/words";

const Login = onDemand(async () => (await import("~/frame/login")).Login);

export function Frame() {
  const me = useMe();
  const wanted = useKey((state) => state.wanted);
  const w = useWords(commonWords);
  useDocument();
  if (wanted || (me.error instanceof Problem && me.error.status === 401)) {
    return (
      <Suspense>
        <Login />
      </Suspense>
    );
  }
  if (me.isPending) {
    return (
      <Center h="100dvh">
        <Loader role="img" aria-label={w.loading} />
      </Center>
    );
  }
  if (me.error) {
    return (
      <Center h="100dvh" p="md">
        <ProblemNote problem={me.error} onRetry={() => void me.refetch()} />
      </Center>
    );
  }
  return <Inside />;
}

function Inside() {
  const key = useKey((state) => state.key);
  const w = useWords(commonWords);
  const content = useRef<HTMLElement>(null);
  useEffect(() => {
    startLive();
    return stopLive;
  }, [key]);
  useFocusOnNewPage(content);
  return (
    <div className="frame">
      <button type="button" className="skip-link" onClick={() => content.current?.focus()}>
        {w.skip}
      </button>
      <Rail />
      <div className="frame-top">
        <ConnectionBanner />
      </div>
      <main className="frame-page" id="content" tabIndex={-1} ref={content}>
        <Outlet />
      </main>
      <LazyPalette />
      <DropAnywhere />
    </div>
  );
}

/** Whoever goes to another page by keyboard or palette is there, and not at a link that is gone. */
function useFocusOnNewPage(content: React.RefObject<HTMLElement | null>): void {
  const page = useLocation().pathname.split("/")[1];
  const shown = useRef(page);
  useEffect(() => {
    if (shown.current !== page) content.current?.focus({ preventScroll: true });
    shown.current = page;
  }, [page, content]);
}

/** The language and the title of the document follow the person and the page. */
function useDocument(): void {
  const lang = usePreferences((state) => state.lang);
  const { pathname } = useLocation();
  const w = useWords(commonWords);
  useEffect(() => {
    document.documentElement.lang = lang === "zh" ? "zh-CN" : "en";
    const page = pages.find(({ path }) => pathname.startsWith(path));
    document.title = page ? `${w[page.name]} · ${w.studio}` : w.studio;
  }, [lang, pathname, w]);
}
