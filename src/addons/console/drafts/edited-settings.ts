import { join, relative, resolve } from 'node:path';
import { parseDocument, stringify, visit } from 'yaml';
import type { EditedAnswer, FileDraft, SettingsFix } from '../../../core/process/console-port.ts';
import { loadSettings, type LoadResult } from '../../../core/settings/read/load.ts';
import type { Diagnostic } from '../../../core/settings/source/diagnostic.ts';
import { editedFiles } from '../../../core/settings/read/edited-files.ts';
import { nameOf } from '../../../core/settings/source/stored-objects.ts';
import { maskSecrets } from '../settings/mask-secrets.ts';
import { diffLines } from './diff-lines.ts';
import { unifiedDiff } from './unified-diff.ts';
import type { SettingsSources } from '../settings/written-settings.ts';

type Texts = Readonly<Record<string, string>>;

interface Edited {
  readonly loaded: LoadResult;
  readonly texts: Texts;
  /** Marks that stand for no secret of their line. */
  readonly lost: readonly Diagnostic[];
}

/** The mistakes of settings with these texts. Without the environment and further files: what a reference names is not read. */
export async function validateEdited(folder: string, inForce: SettingsSources, texts: Texts): Promise<EditedAnswer> {
  const { loaded, texts: whole, lost } = await readEdited(folder, inForce, texts);
  return {
    hash: loaded.settings?.hash ?? null,
    unchecked: loaded.fakedNames,
    diagnostics: [
      ...lost,
      ...about(folder, loaded, texts).map((one) => {
        const fix = fixOf(one, whole[one.file]);
        return fix ? { ...one, fix } : one;
      }),
    ],
  };
}

/** The change as a patch of the files. Texts of the state store are no files: their change is shown, and not applied by hand. */
export async function patchEdited(folder: string, inForce: SettingsSources, texts: Texts): Promise<FileDraft> {
  const { loaded, texts: whole, lost } = await readEdited(folder, inForce, texts);
  const secrets = [...(await load(folder, inForce, {})).secrets(), ...loaded.secrets()];
  const drafts = Object.entries(whole).map(([name, after]) => {
    const before = textOf(folder, inForce, name);
    const hidden = maskSecrets(before, secrets).masked.map(({ line }) => line);
    return { name, patch: unifiedDiff(name, { before, after: ended(after) }, new Set(hidden)) };
  });
  const secret = drafts.find(({ patch }) => !patch)?.name ?? lost[0]?.file;
  return {
    folder: resolve(folder),
    file: Object.keys(texts).join(', '),
    patch: drafts.map(({ patch }) => patch?.text ?? '').join(''),
    cut: drafts.some(({ patch }) => patch?.cut === true),
    diagnostics: about(folder, loaded, texts),
    ...(secret !== undefined && { problem: `a line of ${secret} with a secret was changed: edit that line by hand` }),
  };
}

/** Mistakes, and warnings about the edited files. */
const about = (folder: string, { diagnostics }: LoadResult, texts: Texts): readonly Diagnostic[] =>
  diagnostics
    .map((one) => ({ ...one, file: relative(folder, one.file) }))
    .filter(({ file, severity }) => severity === 'error' || Object.hasOwn(texts, file));

const ended = (text: string): string => (text === '' || text.endsWith('\n') ? text : `${text}\n`);

/** A file or a config of the state store as it is in force; empty: there is none. */
export function textOf(folder: string, { files, settings }: SettingsSources, name: string): string {
  const read = files.contents.files.get(join(folder, name));
  if (read && 'text' in read) return read.text;
  const own = settings.stored?.objects.get(nameOf({ kind: 'configs', id: name.replace(/^store\/configs\//, '') }));
  return name.startsWith('store/') && own?.kind === 'configs' ? own.value.text : '';
}

async function readEdited(folder: string, inForce: SettingsSources, texts: Texts): Promise<Edited> {
  const whole = await wholeTexts(folder, inForce, texts);
  return { ...whole, loaded: await load(folder, inForce, whole.texts) };
}

/** Texts as they would be written: marks that a reader has left as they were are the secrets that they stand for. */
export async function wholeTexts(
  folder: string,
  inForce: SettingsSources,
  texts: Texts,
): Promise<Omit<Edited, 'loaded'>> {
  const isMarked = Object.values(texts).some((text) => text.includes('•'));
  const secrets = isMarked ? (await load(folder, inForce, {})).secrets() : [];
  const lost: Diagnostic[] = [];
  const whole = Object.entries(texts).map(([name, text]) => {
    const before = textOf(folder, inForce, name);
    return [name, unmasked(before, asWritten(text, before), { name, secrets, lost })] as const;
  });
  return { texts: Object.fromEntries(whole), lost };
}

const load = (folder: string, { files, settings }: SettingsSources, texts: Texts): Promise<LoadResult> =>
  loadSettings(folder, {
    env: {},
    files: editedFiles(folder, { contents: files.contents, stored: settings.stored }, texts),
    fakeMissing: true,
  });

/** A browser ends lines with a line feed alone. */
const asWritten = (text: string, before: string): string =>
  before.includes('\r\n') ? text.replaceAll(/\r?\n/g, '\r\n') : text;

/** Puts the secrets back into lines that are as they were shown. */
function unmasked(
  before: string,
  text: string,
  { name, secrets, lost }: { readonly name: string; readonly secrets: readonly string[]; readonly lost: Diagnostic[] },
): string {
  const masked = maskSecrets(before, secrets);
  if (masked.masked.length === 0 || !text.includes('•')) return text;
  const written = before.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const hidden = new Set(masked.masked.map(({ line }) => line));
  return diffLines(masked.text, text)
    .filter(({ op }) => op !== '-')
    .map(({ op, text: line, from, to }) => {
      if (op === ' ') return hidden.has(from + 1) ? written[from]! : line;
      if (line.includes('••••'))
        lost.push({
          file: name,
          line: to + 1,
          column: line.indexOf('•') + 1,
          severity: 'error',
          message:
            'a mark stands for a secret here, and the line was changed: write the secret as ${env:NAME} or ${file:PATH}',
        });
      return line;
    })
    .join('');
}

/** Replaces the word that a suggestion is about. Undefined: it is not about one scalar. */
function fixOf({ line, column, suggestion }: Diagnostic, text: string | undefined): SettingsFix | undefined {
  if (suggestion === undefined || text === undefined) return undefined;
  const lines = text.split('\n');
  const at = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0) + column - 1;
  let fix: SettingsFix | undefined;
  visit(parseDocument(text, { logLevel: 'silent' }), {
    Scalar(_, { range, type }) {
      if (range?.[0] !== at || type === 'BLOCK_FOLDED' || type === 'BLOCK_LITERAL') return undefined;
      const source = text.slice(at, range[1]);
      if (source.includes('\n')) return undefined;
      const quote = /^["']/.exec(source)?.[0];
      const written =
        quote === undefined
          ? stringify(suggestion).trimEnd()
          : quote === '"'
            ? JSON.stringify(suggestion)
            : `'${suggestion.replaceAll("'", "''")}'`;
      fix = { line, column, end_column: column + source.length, text: written };
      return visit.BREAK;
    },
  });
  return fix;
}
