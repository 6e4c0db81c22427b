import { createTheme, type CSSVariablesResolver, defaultVariantColorsResolver, type MantineColorsTuple } from "@mantine/core";

const soul: MantineColorsTuple = [
  "#f0efff", "#dddcff", "#bdbaff", "#9f9bff", "#8f8cff", "#7c78f5", "#6a66e0", "#5754bd", "#464399", "#353276",
];

const night: MantineColorsTuple = [
  "#d5d7e0", "#b3b6c4", "#9094a6", "#6f7386", "#4c5064", "#373b4b", "#262933", "#1e2029", "#17181f", "#111217",
];

export const theme = createTheme({
  primaryColor: "soul",
  primaryShade: { light: 7, dark: 4 },
  autoContrast: true,
  // The contrast is computed for the light theme alone, and our colour is much lighter in the dark one.
  variantColorResolver: (input) => {
    const colors = defaultVariantColorsResolver(input);
    const ours = input.variant === "filled" && (input.color ?? "soul") === "soul";
    return ours ? { ...colors, color: "light-dark(#ffffff, #17181f)" } : colors;
  },
  colors: { soul, dark: night },
  fontFamily: 'system-ui, -apple-system, "Segoe UI", "Noto Sans SC", "PingFang SC", "Microsoft YaHei", sans-serif',
  fontFamilyMonospace: 'ui-monospace, "SF Mono", Consolas, "Noto Sans Mono CJK SC", monospace',
  defaultRadius: "md",
  respectReducedMotion: true,
  // A menu may have nothing but its items in it.
  components: { Menu: { defaultProps: { withInitialFocusPlaceholder: false } } },
});

/** Words of a colour in the light and in the dark: readable (4.5 : 1) on every ground here, also on their own tint. */
const INKS = {
  soul: ["#464399", "#c9c7ff"],
  red: ["#a8201a", "#ff9d94"],
  green: ["#1b6635", "#7ddf96"],
  yellow: ["#755000", "#ffd75e"],
  orange: ["#8f4300", "#ffb672"],
  blue: ["#1a5488", "#8fc2ff"],
  gray: ["#495057", "#c3c7d6"],
} as const;

/** Light, subtle and outlined parts and coloured texts: calm tints with words of the same colour. */
function inks(scheme: 0 | 1): Record<string, string> {
  const variables = Object.entries(INKS).flatMap(([name, both]) => {
    const ink = both[scheme];
    const tint = (percent: number) => `color-mix(in srgb, ${ink} ${percent}%, transparent)`;
    const parts = {
      text: ink,
      outline: ink,
      "light-color": ink,
      light: tint(13),
      "light-hover": tint(19),
      "outline-hover": tint(8),
    };
    return Object.entries(parts).map(([part, value]) => [`--mantine-color-${name}-${part}`, value]);
  });
  return Object.fromEntries(variables) as Record<string, string>;
}

/** Filled parts of these bear white words in both schemes. */
const FILLED = {
  "--mantine-color-red-filled": "#c92a2a",
  "--mantine-color-red-filled-hover": "#b32424",
  "--mantine-color-gray-filled": "#5c6070",
  "--mantine-color-gray-filled-hover": "#525665",
};

export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: { ...inks(0), ...FILLED, "--mantine-color-placeholder": "#686d75" },
  dark: { ...inks(1), ...FILLED, "--mantine-color-placeholder": "#8f94a8" },
});

/** The colours of the three axes, as in every plot and bar; each is told by its name too. */
export const AXES = { p: "#4ade80", a: "#fbbf24", d: "#60a5fa" } as const;
