/** Where each operation lives under the base of the API (wire.md A1, A2). To serve another one: its line here. */
const PATHS = {
  'chat.completions': '/chat/completions',
} as const;

export type OpenAiOperation = keyof typeof PATHS;

export const pathOf = (operation: OpenAiOperation): string => PATHS[operation];
