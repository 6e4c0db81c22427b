import "~/mantine";
import "~/studio.css";

import { MantineProvider } from "@mantine/core";
import { QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { RouterProvider } from "react-router";

import { queryClient } from "~/api/queries";
import { Corner } from "~/parts/corner";
import { router } from "~/routes";
import { cssVariables, theme } from "~/theme";

const nonce = document.querySelector('meta[name="csp-nonce"]')?.getAttribute("content") ?? "";
// Dialogs lock the page's scrolling by a style of their own, for which their library takes the nonce from this name.
Object.assign(globalThis, { __webpack_nonce__: nonce });

createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      defaultColorScheme="dark"
      cssVariablesResolver={cssVariables}
      getStyleNonce={() => nonce}
    >
      <Corner />
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
