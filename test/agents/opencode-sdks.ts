import { API } from './apis.ts';
import { COMMON_CASES, type Case } from './cases.ts';

/** opencode speaks the API of the SDK that its settings name; each of these runs at an upstream with another API. */
const SDKS = [
  { sdk: '@ai-sdk/openai-compatible', short: 'compatible', api: API.chat, upstream: 'claude' },
  { sdk: '@ai-sdk/openai', short: 'responses', api: API.responses, upstream: 'gemini' },
] as const;

const NAMES = ['text', 'tools', 'parallel'];

export const OPENCODE_SDKS: readonly Case[] = SDKS.flatMap(({ sdk, short, api, upstream }) =>
  COMMON_CASES.filter(({ name }) => NAMES.includes(name)).map((row) => ({
    ...row,
    name: `${row.name}-${short}`,
    title: `${row.title}, ${sdk}`,
    only: { agent: 'opencode', upstream },
    sdk: { package: sdk, api },
  })),
);
