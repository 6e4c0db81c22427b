/** The pages. Each is loaded when it is opened first. */

import { createBrowserRouter, Navigate, type RouteObject } from "react-router";

import { NotFound, PageFailed } from "~/frame/failures";
import { Frame } from "~/frame/frame";
import { moreStyles } from "~/later";

type Load = () => Promise<{ default: React.ComponentType }>;

const firstPage = (load: Load): Pick<RouteObject, "lazy"> => ({
  lazy: async () => ({ Component: (await load()).default }),
});

const page = (load: Load) =>
  firstPage(async () => {
    const [, loaded] = await Promise.all([moreStyles(), load()]);
    return loaded;
  });

export const router = createBrowserRouter(
  [
    {
      path: "/",
      element: <Frame />,
      errorElement: <PageFailed />,
      hydrateFallbackElement: <div />,
      children: [
        {
          errorElement: <PageFailed />,
          children: [
            { index: true, element: <Navigate to="/chat" replace /> },
            { path: "chat/:sessionId?", ...firstPage(() => import("~/pages/chat/chat")) },
            { path: "soul/:tab?", ...page(() => import("~/pages/soul/soul")) },
            { path: "memory/:tab?", ...page(() => import("~/pages/memory/memory")) },
            { path: "library/:kind?/:presetId?", ...page(() => import("~/pages/library/library")) },
            { path: "prompt-templates/:templateId?", ...page(() => import("~/pages/templates/templates")) },
            { path: "terminals/:terminalId?", ...page(() => import("~/pages/terminals/terminals")) },
            { path: "graph", ...page(() => import("~/pages/graph/graph")) },
            { path: "simulate", ...page(() => import("~/pages/simulate/simulate")) },
            { path: "operations/:tab?", ...page(() => import("~/pages/operations/operations")) },
            { path: "*", element: <NotFound /> },
          ],
        },
      ],
    },
  ],
  { basename: new URL(document.baseURI).pathname.replace(/\/$/, "") || "/" },
);
