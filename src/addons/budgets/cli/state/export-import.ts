import { readFile } from 'node:fs/promises';
import { readStored } from '../../settings/read-stored.ts';
import { OWNED_KINDS, type Entity, type PutChange } from '../../../../core/ports/entities.ts';
import { objectsOfFiles } from './files-and-store.ts';
import { onStore, withReader, withStore, writeAll, type ExitCode, type FoundStore, type StateOptions } from './read.ts';
import { messageOf } from '../../../../core/kernel/outside/thrown.ts';
import { parseJson } from '../../../../formats/json/object.ts';

const COUNTERS = 'counters';
export const EXPORT_KINDS = [...OWNED_KINDS, COUNTERS] as const;

/** `gatehouse state export`: the objects and counters of the store, one JSON object a line, without secrets. It may be in use. */
export const exportCommand = (options: StateOptions & { readonly kind: string | undefined }): Promise<0 | 1 | 2> =>
  onStore(options, (found) =>
    withReader(found, async (store): Promise<ExitCode> => {
      const { out, kind } = options;
      for (const entity of (await store.entities.load(0)).changed)
        if (kind === undefined || kind === entity.kind) out(`${JSON.stringify(entity)}\n`);
      if (kind === undefined || kind === COUNTERS)
        for await (const piece of store.counters.all())
          for (const counter of piece) out(`${JSON.stringify({ kind: COUNTERS, ...counter })}\n`);
      return 0;
    }),
  );

interface StateImportOptions extends StateOptions {
  readonly file: string;
  readonly kind: string | undefined;
  readonly dryRun: boolean;
}

interface ExportedLine {
  readonly place: string;
  readonly entity: Entity;
}

/** `gatehouse state import FILE`: writes the objects of an export. Refuses everything when one of them cannot be written. */
export const importCommand = (options: StateImportOptions): Promise<0 | 1 | 2> =>
  onStore(options, async (found): Promise<ExitCode> => {
    const { out, err, file, kind, dryRun } = options;
    const text = await readFile(file, 'utf8').catch((error: unknown) => {
      err(`gatehouse: ${file} cannot be read: ${messageOf(error)}\n`);
      return undefined;
    });
    if (text === undefined) return 1;
    const { lines, problems, skipped } = readLines(text, options);
    const chosen = lines.filter(({ entity }) => kind === undefined || entity.kind === kind);
    return withStore(found, async (store) => {
      const known = new Set((await store.entities.load(0)).changed.map(({ kind: one, id }) => `${one}/${id}`));
      problems.push(...chosen.flatMap((line) => problemOf(line, found, known) ?? []));
      for (const problem of problems) err(`${problem}\n`);
      if (problems.length > 0) {
        err(`gatehouse: nothing was imported: ${problems.length} of ${lines.length} objects cannot be\n`);
        return 1;
      }
      const sealed = chosen.filter(({ entity }) => entity.sealed.length > 0).length;
      if (sealed > 0) out(`${sealed} objects have secrets, which an export does not contain: write them again\n`);
      if (skipped > 0) out(`${skipped} lines are counters, which are not imported\n`);
      if (dryRun) {
        out(`${found.name}: would import ${chosen.length} objects\n`);
        return 0;
      }
      const changes = chosen.map(({ entity }) => changeOf(entity));
      await writeAll(store, changes);
      out(`${found.name}: ${chosen.length} objects imported\n`);
      return 0;
    });
  });

function readLines(text: string, { file }: Pick<StateImportOptions, 'file'>) {
  const lines: ExportedLine[] = [];
  const problems: string[] = [];
  let skipped = 0;
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const place = `${file}:${index + 1}`;
    const entity = parse(line);
    if (entity === undefined) problems.push(`${place}: this is no line of an export`);
    else if (entity.kind === COUNTERS) skipped += 1;
    else lines.push({ place, entity: entity as Entity });
  }
  return { lines, problems, skipped };
}

/** Undefined for anything else than an object of `gatehouse state export`; its values are checked when they are written. */
function parse(line: string): (Omit<Entity, 'kind'> & { readonly kind: string }) | undefined {
  const value = parseJson(line);
  const { kind, id, doc, digests, sealed } = Object(value) as Readonly<Record<string, unknown>>;
  if (kind === COUNTERS) return value as Entity;
  const isEntity =
    typeof kind === 'string' &&
    typeof id === 'string' &&
    typeof doc === 'object' &&
    doc !== null &&
    Array.isArray(digests) &&
    Array.isArray(sealed);
  return isEntity ? (value as Entity) : undefined;
}

function problemOf({ place, entity }: ExportedLine, found: FoundStore, known: Set<string>): string | undefined {
  const { kind, id } = entity;
  const name = `${kind}/${id}`;
  if (!(OWNED_KINDS as readonly string[]).includes(kind)) return `${place}: ${kind} are no kind that can be imported`;
  if (!found.state.owns.includes(kind)) return `${place}: \`state.owns\` does not list \`${kind}\``;
  if (known.has(name)) return `${place}: ${name} is in the store already`;
  known.add(name);
  const owner = objectsOfFiles(found).find((object) => object.kind === kind && object.id === id)?.place;
  if (owner !== undefined) return `${place}: ${name} is in a file, too: ${owner}`;
  const problem = readStored(entity)?.problem;
  return problem === undefined ? undefined : `${place}: ${name} is not valid: ${problem}`;
}

const changeOf = ({ kind, id, doc, digests }: Entity): PutChange => ({
  op: 'put',
  kind,
  id,
  doc,
  ...(kind === 'keys' && { digests: digests.map((digest) => ({ ...digest, validTo: digest.validTo ?? undefined })) }),
  ifVersion: 0,
  reason: 'import',
});
