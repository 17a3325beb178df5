import type { Model } from "./types.ts";

/** The models an emulator knows unless it is told others. Form and oddities as on the wire; the list is ours. */
export const defaultModels: readonly Model[] = [
  {
    id: "default",
    displayName: "Auto",
    aliases: ["auto"],
    variants: [{ params: [], displayName: "Auto", isDefault: true }],
  },
  {
    id: "composer-2",
    displayName: "Composer 2",
    aliases: ["composer-latest", "composer"],
    parameters: [
      {
        id: "fast",
        displayName: "Fast",
        values: [{ value: "false" }, { value: "true", displayName: "Fast" }],
      },
    ],
    variants: [
      { params: [{ id: "fast", value: "true" }], displayName: "Composer 2", isDefault: true },
      { params: [{ id: "fast", value: "false" }], displayName: "Composer 2" },
    ],
  },
  {
    id: "claude-4-sonnet-thinking",
    displayName: "Claude 4 Sonnet (Thinking)",
    variants: [{ params: [], displayName: "Claude 4 Sonnet (Thinking)", isDefault: true }],
  },
  {
    id: "claude-4.6-sonnet-thinking",
    displayName: "Claude 4.6 Sonnet (Thinking)",
    description: "Careful with long tasks.",
    // The wire has variants with a parameter that `parameters` does not list.
    variants: [
      {
        params: [{ id: "context", value: "1m" }],
        displayName: "Claude 4.6 Sonnet (Thinking)",
        isDefault: true,
      },
    ],
  },
];

/** The repositories an emulator lists unless it is told others. */
export const defaultRepositories: readonly string[] = [
  "https://github.com/your-org/your-repo",
  "https://github.com/your-org/your-other-repo",
];
