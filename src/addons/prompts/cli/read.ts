import { join } from 'node:path';
import { nearest } from '../../../core/kernel/index.ts';
import { partialTexts, promptFilesOf } from '../prompt-files.ts';
import type { CompiledPrompt, CompiledVersion } from '../compile.ts';
import { PromptLibrary, readReference, versionOf } from '../library.ts';
import { formatDiagnostics } from '../../../core/settings/source/diagnostic.ts';
import { loadSettings } from '../../../core/settings/read/load.ts';
import type { Environment } from '../../../core/settings/values/references.ts';
import type { Output } from '../../../core/commands/terminal/output.ts';

export interface PromptsOptions extends Output {
  readonly dir: string;
  readonly env: Environment;
}

/** A command of prompts ends for this reason, which is printed. */
export class CommandEnd extends Error {
  readonly code: 1 | 2;
  constructor(message: string, code: 1 | 2 = 1) {
    super(message);
    this.code = code;
  }
}

/** Runs a command on a folder's prompts. Exit code 0: done; 1: errors in prompts or call; 2: no such folder. */
export async function withPrompts(
  options: PromptsOptions,
  act: (library: PromptLibrary) => void | Promise<void>,
): Promise<0 | 1 | 2> {
  try {
    await act(await readPrompts(options));
    return 0;
  } catch (error) {
    if (!(error instanceof CommandEnd)) throw error;
    options.err(error.message);
    return error.code;
  }
}

async function readPrompts({ dir, env }: PromptsOptions): Promise<PromptLibrary> {
  const { settings, diagnostics, folderExists } = await loadSettings(dir, { env, fakeMissing: true });
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  const own = settings ? errors.filter(({ file }) => file.startsWith(join(dir, 'prompts', '/'))) : errors;
  if (!settings || own.length > 0) throw new CommandEnd(formatDiagnostics(own, 'pretty'), folderExists ? 1 : 2);
  const files = promptFilesOf(settings);
  return new PromptLibrary(files.prompts, partialTexts(files));
}

/** Throws CommandEnd. */
export function findVersion({ prompts }: PromptLibrary, id: string, selector: string): FoundVersion {
  const prompt = prompts.get(id);
  if (!prompt) {
    const suggestion = nearest(id, [...prompts.keys()]);
    const hint = suggestion === undefined ? '' : `; did you mean ${JSON.stringify(suggestion)}?`;
    throw new CommandEnd(`there is no prompt ${JSON.stringify(id)}${hint}\n`);
  }
  const version = versionOf(prompt, selector);
  if (version) return { prompt, version };
  throw new CommandEnd(`the prompt ${id} has no version or label ${JSON.stringify(selector)}\n`);
}

interface FoundVersion {
  readonly prompt: CompiledPrompt;
  readonly version: CompiledVersion;
}

/** `summary@3`. Throws CommandEnd. */
export function findReference(library: PromptLibrary, text: string): FoundVersion {
  const { id, selector = 'latest' } = readReference(text) ?? { id: text };
  return findVersion(library, id, selector);
}
