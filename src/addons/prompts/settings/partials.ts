import { LineCounter } from 'yaml';
import type { Diagnostic } from '../../../core/settings/source/diagnostic.ts';
import type { SettingsFiles } from '../../../core/settings/source/files.ts';
import type { FoundPartial } from '../../../core/settings/source/find-files.ts';

/** A partial of prompts: a text file. */
export interface PartialFile {
  readonly path: string;
  readonly text: string;
}

/** The partials by name. One that cannot be read is left out and reported. */
export async function readPartials(
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
