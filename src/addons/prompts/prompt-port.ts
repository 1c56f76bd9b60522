import type { PromptFile, PromptValueSchema } from '../../../schemas/types.generated.ts';
import type { Problem } from '../../core/kernel/report.ts';
import type { PromptPort } from '../../core/ports/prompts.ts';
import type { Settings } from '../../core/settings/read/load.ts';
import { checkModels } from './check-models.ts';
import { checkSchema } from './check.ts';
import { compilePartials, compileVersion, digestOfVersion, type CompiledVersion } from './compile.ts';
import { partialTexts, promptFilesOf } from './prompt-files.ts';
import { PromptRenderer } from './rendered.ts';
import { mistakesOf } from './stored-prompts.ts';
import { valueMistake } from './variables.ts';
import { writePrompt } from './write-prompt.ts';

/** Characters of all texts of a prompt together. */
const BUDGET = 4 * 1024 * 1024;

const compiled = (number: number, version: object, settings: Settings): CompiledVersion =>
  compileVersion(number, version, compilePartials(partialTexts(promptFilesOf(settings))));

/** Prompts as the admin API checks, renders and writes them. The files and the store have the same rules. */
export const promptPort: PromptPort = {
  check(id, document, settings) {
    const file = document as PromptFile;
    const problems = [...mistakesOf(id, file, partialTexts(promptFilesOf(settings)))];
    const { server, catalog, extras, gateway } = settings;
    const checked = { server, catalog, extras, gateway, keys: undefined, configIds: [...gateway.keys()], now: 0 };
    checkModels(file, checked, (problem) => void problems.push(problem));
    return problems.filter(({ severity }) => severity !== 'warning');
  },
  digest(document, number, settings) {
    const version = (document as PromptFile).versions[String(number)];
    return version && digestOfVersion(compiled(number, version, settings));
  },
  render: (version, variables, settings) =>
    new PromptRenderer(compiled(1, version, settings)).render(variables, BUDGET).fields,
  write: (text, document) => writePrompt(text, document as PromptFile),
  mistake(document, value) {
    const schema = document as PromptValueSchema;
    const problems: Problem[] = [];
    if (checkSchema(schema, ['schema'], (problem) => void problems.push(problem)))
      return valueMistake({ schema }, value);
    return problems.map(({ path, message }) => `${path.join('.')}: ${message}`)[0];
  },
};
