import { join } from 'node:path';
import { nearest } from '../../../core/kernel/index.ts';
import { partialTexts, promptFilesOf } from '../prompt-files.ts';
import type { CompiledPrompt, CompiledVersion } from '../compile.ts';
import { PromptLibrary, readReference, versionOf } from '../library.ts';
import { formatDiagnostics } from '../../../core/settings/source/diagnostic.ts';
import { loadSettings, type Settings } from '../../../core/settings/read/load.ts';
import type { Environment } from '../../../core/settings/values/references.ts';
import type { Output } from '../../../core/commands/terminal/output.ts';

export interface PromptsOptions extends Output {
  readonly dir: string;
  readonly env: Environment;
}

export interface ReadPrompts {
  readonly settings: Settings;
  readonly library: PromptLibrary;
}

/**
 * Reads the prompts of a folder with the checks of `gatehouse validate`. Prints the errors in prompts, or in files that
 * cannot be read at all, and returns the exit code.
 */
export async function readPrompts({ dir, env, err }: PromptsOptions): Promise<ReadPrompts | 1 | 2> {
  const loaded = await loadSettings(dir, { env, fakeMissing: true });
  const { settings } = loaded;
  const errors = loaded.diagnostics.filter(({ severity }) => severity === 'error');
  const own = settings ? errors.filter(({ file }) => file.startsWith(join(dir, 'prompts', '/'))) : errors;
  if (!settings || own.length > 0) {
    err(formatDiagnostics(own, 'pretty'));
    return loaded.folderExists ? 1 : 2;
  }
  const files = promptFilesOf(settings);
  return { settings, library: new PromptLibrary(files.prompts, partialTexts(files)) };
}

/** The prompt; undefined for an unknown one, which is printed. */
export function findPrompt({ library }: ReadPrompts, id: string, { err }: Output): CompiledPrompt | undefined {
  const prompt = library.prompts.get(id);
  if (prompt) return prompt;
  const suggestion = nearest(id, [...library.prompts.keys()]);
  const hint = suggestion === undefined ? '' : `; did you mean ${JSON.stringify(suggestion)}?`;
  err(`there is no prompt ${JSON.stringify(id)}${hint}\n`);
  return undefined;
}

/** The version; undefined for an unknown one, which is printed. */
export function findVersion(prompt: CompiledPrompt, selector: string, { err }: Output): CompiledVersion | undefined {
  const version = versionOf(prompt, selector);
  if (!version) err(`the prompt ${prompt.id} has no version or label ${JSON.stringify(selector)}\n`);
  return version;
}

/** `summary@3`. Undefined for an unknown prompt or version, which is printed. */
export function findReference(
  read: ReadPrompts,
  text: string,
  output: Output,
): { readonly prompt: CompiledPrompt; readonly version: CompiledVersion; readonly selector: string } | undefined {
  const { id, selector = 'latest' } = readReference(text) ?? { id: text };
  const prompt = findPrompt(read, id, output);
  const version = prompt && findVersion(prompt, selector, output);
  return prompt && version && { prompt, version, selector };
}
