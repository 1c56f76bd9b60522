import type { PromptFile } from '../../../schemas/types.generated.ts';
import type { Problem } from '../../core/kernel/report.ts';
import { readSettingsFile, type ReadFile } from '../../core/settings/read/read-file.ts';
import { packageSchemas } from '../../core/settings/schema/schemas.ts';
import type { Diagnostic } from '../../core/settings/source/diagnostic.ts';
import type { SettingsFiles } from '../../core/settings/source/files.ts';
import { storedName, type StoredPrompt } from '../../core/settings/source/stored-objects.ts';
import { checkPrompt } from './check.ts';
import { compilePartials } from './compile.ts';

interface Reading {
  readonly read: readonly ReadFile[];
  readonly files: SettingsFiles;
  readonly own: readonly ReadFile[];
  readonly partials: ReadonlyMap<string, string>;
}

interface StoredPrompts {
  readonly prompts: ReadonlyMap<string, PromptFile>;
  readonly diagnostics: readonly Diagnostic[];
  readonly leftOut: readonly { readonly kind: 'prompts'; readonly id: string }[];
}

/**
 * Reads the prompts that the state store has, each as a file of its own. One that is not valid has no effect, which is a warning: the gateway
 * serves the others. One that a file has too is an error at the file.
 */
export async function readStoredPrompts({ read, files, own, partials }: Reading): Promise<StoredPrompts> {
  const stored = [...(files.stored?.()?.objects.values() ?? [])].filter((one) => one.kind === 'prompts');
  const [first] = read;
  const folder = first ? first.found.path.slice(0, -first.found.name.length) : '';
  const prompts = new Map<string, PromptFile>();
  const diagnostics: Diagnostic[] = [];
  const leftOut: StoredPrompts['leftOut'][number][] = [];
  for (const one of stored.toSorted(({ id }, other) => (id < other.id ? -1 : 1))) {
    const { id, by, at } = one;
    const twin = own.find(({ found }) => found.id === id);
    if (twin) {
      const message = `the prompt "${id}" is also in the store (by ${by}, ${new Date(at).toISOString().slice(0, 10)}): remove one of the two`;
      diagnostics.push({ file: twin.found.path, line: 1, column: 1, severity: 'error', message });
      continue;
    }
    const path = folder + storedName({ kind: 'prompts', id });
    const { file, messages } = await readPrompt(one, path, partials);
    if (file) prompts.set(id, file);
    else leftOut.push({ kind: 'prompts', id });
    diagnostics.push(
      ...messages.map((message) => ({ file: path, line: 1, column: 1, severity: 'warning' as const, message })),
    );
  }
  return { prompts, diagnostics, leftOut };
}

async function readPrompt(
  { id, value, problem }: StoredPrompt,
  path: string,
  partials: Reading['partials'],
): Promise<{ readonly file: PromptFile | undefined; readonly messages: readonly string[] }> {
  const text = JSON.stringify(value);
  const files = { read: async () => ({ text }), list: async () => ({ names: [], folders: [] }) };
  const found = { kind: 'prompt', name: storedName({ kind: 'prompts', id }), path, id } as const;
  const read = await readSettingsFile(found, { env: {}, files, schemas: packageSchemas() });
  const messages = [...(problem === undefined ? [] : [problem]), ...read.diagnostics.map(({ message }) => message)];
  if (messages.length > 0 || !read.value) return { file: undefined, messages };
  // The schema has just been checked.
  const file = read.value as PromptFile;
  const mistakes = mistakesOf(id, file, partials).filter(({ severity }) => severity !== 'warning');
  if (mistakes.length === 0) return { file, messages: [] };
  return { file: undefined, messages: mistakes.map(({ path: at, message }) => `${at.join('.')}: ${message}`) };
}

/** The rules that the schema cannot express. A mistake in a partial is one of the file that has it. */
export function mistakesOf(id: string, file: PromptFile, partials: Reading['partials']): readonly Problem[] {
  const problems: Problem[] = [];
  const report = (problem: Problem): void => void problems.push(problem);
  const partial = (name: string, { message }: { readonly message: string }): void =>
    report({ path: [], message: `prompts/partials/${name}.txt: ${message}` });
  checkPrompt(id, file, compilePartials(partials), { report, partial });
  return problems;
}
