import type { AddOnParts } from '../../core/process/add-on-parts.ts';
import type { SnapshotSource } from '../../core/compose/snapshot-part.ts';
import { prompts as operations } from './operation.ts';
import prompts from './plugins/prompts/index.ts';
import { createPromptDirectory } from './prompt-directory.ts';
import { checkPromptNames, checkPrompts } from './settings/check-prompts.ts';
import { promptFilesOf, readPromptFiles } from './prompt-files.ts';
import { promptPort } from './prompt-port.ts';

const source: SnapshotSource = {
  compose: ({ settings }) => ({
    granted: { request: { prompts: createPromptDirectory(settings) } },
    // Gateways without prompts do no work for them.
    plugins:
      promptFilesOf(settings).prompts.size > 0 ? [{ level: 'request', name: 'prompts', before: 'metadata' }] : [],
  }),
};

export const parts: AddOnParts = {
  plugins: [prompts],
  operations,
  prompts: promptPort,
  checks: [checkPrompts, checkPromptNames],
  extraFiles: [readPromptFiles],
  added: {
    caller: ({ prompts }) => (prompts ? { prompts } : {}),
    config: ({ prompts }) => (prompts ? { prompts: new Map(Object.entries(prompts)) } : {}),
  },
  open: () => source,
  dry: () => source,
};
