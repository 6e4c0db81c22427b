import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import react from "@vitejs/plugin-react";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

/** Where `npm run dev` finds the API; the built studio is served by the server itself. */
const server = process.env.SOULGRAPH_URL ?? "http://127.0.0.1:8000";

/** Assets are compressed once, when they are built, and not for every browser that asks. */
const compressed: Plugin = {
  name: "compressed",
  apply: "build",
  writeBundle({ dir = "dist" }) {
    const files = readdirSync(join(dir, "assets")).filter((name) => /\.(js|css|svg)$/.test(name));
    for (const name of files) {
      const path = join(dir, "assets", name);
      writeFileSync(`${path}.gz`, gzipSync(readFileSync(path), { level: 9 }));
    }
  },
};

/** What most pages use comes in few files: many small ones cost more than they spare. */
const shared = [
  { name: "icons", test: /[\\/]@tabler[\\/]/, minShareCount: 2 },
  {
    name: "inputs",
    test: /@mantine[\\/]core.*[\\/](ActionIcon|Badge|Button|CloseButton|Combobox|FocusTrap|Input|Menu|Popover|Progress|ScrollArea|Select|Textarea|TextInput|Tooltip|Transition)[\\/]/,
    minShareCount: 6,
  },
];

export default defineConfig({
  base: "./", // addresses are relative, so that the studio works behind a path prefix
  plugins: [react(), compressed],
  resolve: { alias: { "~": fileURLToPath(new URL("./src", import.meta.url)) } },
  build: {
    target: "es2022",
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 700,
    rolldownOptions: { output: { codeSplitting: { groups: shared } } },
  },
  server: { proxy: { "/v1": { target: server, ws: true }, "/readyz": server, "/metrics": server } },
  // One document for all files: to make a new one for each would take ten times as long as the tests.
  test: { environment: "jsdom", isolate: false, include: ["src/**/*.test.{ts,tsx}"] },
});
