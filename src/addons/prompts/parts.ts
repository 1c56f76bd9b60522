import type { AddOnParts } from '../../core/add-on.ts';
import { prompts as operations } from './operation.ts';
import prompts from './plugins/prompts/index.ts';
import { checkPromptNames } from './settings/check-prompts.ts';

export const parts: AddOnParts = {
  plugins: [prompts],
  operations,
  checks: [checkPromptNames],
};
