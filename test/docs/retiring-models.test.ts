import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { TABLE_SOURCE } from '../../schemas/model-table.ts';
import { ROOT } from './pages.ts';

/** A year from 2026-11-30. An author raises it, the calendar does not: a test must not fail by itself. */
const UNTIL = '2027-11-30';

const PLACES = [
  'README.md',
  'compose.yaml',
  'configs/**/*',
  'deploy/**/*',
  'docs/**/*.md',
  'plugins/**/README.md',
  'schemas/**/*.json',
  'src/**/README.md',
];
/** Facts about vendors, models of the past among them. */
const FACTS = ['docs/protocols/**', 'docs/contributing/**', 'docs/bench*'];

/** Names that stand for facts in pages of instructions. */
const STATED: Readonly<Record<string, readonly string[]>> = {
  // Names that are built into the client.
  'docs/agents/codex.md': ['gpt-5.5'],
  'docs/agents/gemini.md': ['gemini-3-pro-preview'],
  // Vertex AI has not announced a day.
  'docs/providers/vertex-ai.md': ['imagen-4.0-generate-001'],
  // One model for each generation whose fields differ.
  'docs/reference/fields.md': ['claude-sonnet-4-5', 'gemini-2.5-flash', 'gemini-3-pro-preview', 'gpt-5'],
  // The first model with a rule of the vendor's.
  'docs/reference/settings/catalog.md': ['gpt-5.4'],
  'schemas/catalog.json': ['gpt-5.4'],
  'schemas/core/catalog.json': ['gpt-5.4'],
  // What a warning looks like.
  'docs/route/models.md': ['claude-opus-4-1', 'claude-opus-4-5'],
};

interface Row {
  readonly id: string;
  readonly aka?: readonly string[];
  readonly on: readonly string[];
  readonly retires?: readonly { readonly on?: readonly string[]; readonly day: string }[];
}

function retiringNames(): ReadonlyMap<string, string> {
  const { models } = JSON.parse(readFileSync(TABLE_SOURCE, 'utf8')) as { readonly models: readonly Row[] };
  return new Map(
    models.flatMap(({ id, aka = [], on, retires = [] }) =>
      retires
        .filter(({ day }) => day <= UNTIL)
        .flatMap(({ day, on: at = on }) => [id, ...aka].map((name) => [name, `${day} at ${at.join(', ')}`] as const)),
    ),
  );
}

it('samples, recipes and pages name no model that retires within a year', () => {
  const names = retiringNames();
  const words = [...names.keys()]
    .toSorted((one, other) => other.length - one.length)
    .map((name) => RegExp.escape(name));
  const named = new RegExp(`(?<![\\w.-])(?:${words.join('|')})(?![\\w@-]|\\.\\d)`, 'g');
  const files = globSync(PLACES, { cwd: ROOT, exclude: FACTS }).filter((file) => /\.(?:md|ya?ml|json)$/.test(file));
  expect(files.length).toBeGreaterThan(150);
  const stated: Record<string, Set<string>> = {};
  const places = files.flatMap((file) =>
    readFileSync(join(ROOT, file), 'utf8')
      .split('\n')
      .flatMap((line, index) =>
        [...line.matchAll(named)].flatMap(([name]) => {
          if (!STATED[file]?.includes(name)) return [`${file}:${index + 1}: ${name} retires ${names.get(name)}`];
          (stated[file] ??= new Set()).add(name);
          return [];
        }),
      ),
  );
  expect(places).toEqual([]);
  // A fact that no page states any more needs no place here.
  expect(Object.fromEntries(Object.entries(stated).map(([file, found]) => [file, [...found].toSorted()]))).toEqual(
    STATED,
  );
});
