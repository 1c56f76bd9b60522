/** Checklists of CONTRIBUTING.md: the blocks of a section that make a new file, or add lines to one. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** One file that a checklist makes or changes. */
interface Place {
  readonly file: string;
  /** Makes the file's text of the one before. Throws where the file is not as the checklist has it. */
  readonly edit: (before: string) => string;
  readonly isNew: boolean;
}

export interface Checklist {
  readonly title: string;
  /** The number that its title names. */
  readonly promised: number;
  readonly places: readonly Place[];
}

const FENCE = /^(`{3,})(\w+)\n([\s\S]*?)^\1$/gm;

/** @param root of a repository: linked pages under docs/contributing belong to the section that links them */
export function readChecklists(root: string): readonly Checklist[] {
  const text = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8');
  const part = text.slice(text.indexOf('\n## Checklists\n'), text.indexOf('\n## Glossary\n'));
  return part
    .split(/^### /m)
    .slice(1)
    .map((section) => {
      const heading = /^(.*): (\d+) files?\n/.exec(section);
      if (!heading) throw new Error(`a checklist does not say how many files it takes:\n${section.slice(0, 80)}`);
      const pages = [...section.matchAll(/\]\((docs\/contributing\/[^)]+)\)/g)].map(([, page]) =>
        readFileSync(join(root, page!), 'utf8'),
      );
      const places = [section, ...pages].flatMap((page) =>
        [...page.matchAll(FENCE)].map(([, , kind, code]) => (kind === 'diff' ? readDiff(code!) : readNewFile(code!))),
      );
      return { title: heading[1]!, promised: Number(heading[2]), places };
    });
}

function readNewFile(code: string): Place {
  const [first = '', ...lines] = code.split('\n');
  const file = /^\/\/ (\S+)$/.exec(first)?.[1];
  if (file === undefined) throw new Error(`a block does not begin with the name of its file:\n${code.slice(0, 200)}`);
  return { file, isNew: true, edit: () => lines.join('\n') };
}

function readDiff(code: string): Place {
  const [first = '', ...lines] = code.trimEnd().split('\n');
  const file = /^--- (\S+)$/.exec(first)?.[1];
  if (file === undefined) throw new Error(`a diff does not begin with the name of its file:\n${code.slice(0, 200)}`);
  const hunks = lines
    .join('\n')
    .split(/^@@\n/m)
    .map((hunk) => hunk.trimEnd().split('\n'));
  const side = (hunk: readonly string[], without: string): string =>
    hunk.flatMap((line) => (line.startsWith(without) ? [] : `${line.slice(1)}\n`)).join('');
  const edit = (before: string): string =>
    hunks.reduce((text, hunk) => {
      const old = side(hunk, '+');
      const found = text.split(old).length - 1;
      if (found !== 1) throw new Error(`${file} has these lines ${found} times, not once:\n${old}`);
      return text.replace(old, () => side(hunk, '-'));
    }, before);
  return { file, isNew: false, edit };
}

/** The files that were made or changed. */
export function follow(root: string, { places }: Checklist): ReadonlySet<string> {
  for (const { file, isNew, edit } of places) {
    const path = join(root, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, edit(isNew ? '' : readFileSync(path, 'utf8')));
  }
  return new Set(places.map(({ file }) => file));
}
