import { LineCounter } from 'yaml';
import type { PromptFile } from '../../../schemas/types.generated.ts';
import { Slot, type ExtraReader, type Extras } from '../../core/settings/source/extra-files.ts';
import type { Diagnostic } from '../../core/settings/source/diagnostic.ts';
import type { SettingsFiles } from '../../core/settings/source/files.ts';
import type { FoundPartial } from '../../core/settings/source/find-files.ts';
import { readStoredPrompts } from './stored-prompts.ts';

interface PromptFiles {
  /** By id: the file's name without `.yaml`. Without those that could not be read. */
  readonly prompts: ReadonlyMap<string, PromptFile>;
  readonly ids: readonly string[];
  /** Ids of those that the state store has. They have been checked. */
  readonly stored: ReadonlySet<string>;
  /** Templates that prompts share, by name: the text of the file without its last line end. */
  readonly partials: ReadonlyMap<string, PartialFile>;
}

const slot = new Slot<PromptFiles>({ prompts: new Map(), ids: [], stored: new Set(), partials: new Map() });

export const promptFilesOf = (settings: { readonly extras?: Extras | undefined }): PromptFiles => slot.in(settings);

export const partialTexts = ({ partials }: PromptFiles): ReadonlyMap<string, string> =>
  new Map([...partials].map(([name, { text }]) => [name, text]));

export const readPromptFiles: ExtraReader = async ({ found, read, files }, extras) => {
  const own = read.filter((file) => file.found.kind === 'prompt');
  const { partials, diagnostics } = await readPartials(found.partials, files);
  const texts = new Map([...partials].map(([name, { text }]) => [name, text]));
  const stored = await readStoredPrompts({ read, files, own, partials: texts });
  // The schema of each file has been checked.
  const inFiles = own.flatMap(({ found: { id }, value }) => (value ? [[id, value as PromptFile] as const] : []));
  slot.put(extras, {
    prompts: new Map([...inFiles, ...stored.prompts]),
    ids: [...own.map((file) => file.found.id), ...stored.prompts.keys()],
    stored: new Set(stored.prompts.keys()),
    partials,
  });
  return {
    complete: diagnostics.length === 0,
    diagnostics: [...diagnostics, ...stored.diagnostics],
    paths: found.partials.map(({ path }) => path),
    hashed: [...[...texts].map(([name, text]) => ['partial', name, text]), ...stored.prompts],
    leftOut: stored.leftOut,
  };
};

interface PartialFile {
  readonly path: string;
  readonly text: string;
}

/** The partials by name. One that cannot be read is left out and reported. */
async function readPartials(
  found: readonly FoundPartial[],
  files: SettingsFiles,
): Promise<{ readonly partials: ReadonlyMap<string, PartialFile>; readonly diagnostics: readonly Diagnostic[] }> {
  const partials = new Map<string, PartialFile>();
  const diagnostics: Diagnostic[] = [];
  const read = await Promise.all(found.map(async ({ path }) => files.read(path)));
  for (const [index, { name, path }] of found.entries()) {
    const content = read[index]!;
    // Editors end files with a newline, which is not part of the text.
    if ('text' in content) partials.set(name, { path, text: content.text.replace(/\r?\n$/, '') });
    else {
      const message = 'missing' in content ? 'this file is missing' : `this file ${content.problem}`;
      diagnostics.push({ file: path, line: 1, column: 1, severity: 'error', message });
    }
  }
  return { partials, diagnostics };
}

/** A mistake at an offset of a partial. */
export function partialDiagnostic(
  { path, text }: PartialFile,
  { at, ...problem }: Pick<Diagnostic, 'message' | 'suggestion'> & { readonly at: number },
): Diagnostic {
  const lines = new LineCounter();
  lines.addNewLine(0);
  for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', end + 1)) lines.addNewLine(end + 1);
  const { line, col } = lines.linePos(at);
  return { file: path, line, column: col, severity: 'error', ...problem };
}
