import { isDeepStrictEqual } from 'node:util';
import type { GatewayKey, Organization, ServerFile, Team } from '../../../../schemas/types.generated.ts';
import { Secret } from '../../../plugin/index.ts';
import type { Problem as SettingsProblem } from '../../../core/kernel/report.ts';
import { partOf } from '../../../core/process/add-on-parts.ts';
import type { CheckedSettings } from '../../../core/settings/checks/check.ts';
import { checkMeaning } from '../../../core/settings/checks/index.ts';
import { SEALED_OF_ALERTS, type CompiledKind } from '../../../core/settings/source/stored-objects.ts';
import { toPointer, valueAt, type JsonPath } from '../../../core/settings/schema/pointer.ts';
import type { EntityDoc } from '../../../core/ports/entities.ts';
import { budgetsIn, nodeOf } from './budgets-in.ts';
import type { Call } from './call.ts';
import { ApiProblem, type FieldError } from './problems.ts';
import { NOUNS, type ObjectKind } from './routes.ts';
import { invalidBody } from './schemas.ts';

/** A digest that no key has: the checks need one. */
const NO_DIGEST = `sha256:${'0'.repeat(64)}`;

/** Checks that an object agrees with the other objects and the settings. Throws `invalid_body` or `exists`. */
export function checkReferences(kind: ObjectKind, id: string, spec: EntityDoc, call: Call): void {
  // The whole settings are compiled with an entry of the catalog or a config.
  if (kind === 'providers' || kind === 'configs') return;
  if (kind === 'prompts') return refuse(problemsOfPrompt(id, spec, call));
  if (kind === 'prices' || kind === 'alerts') return refuse(shown(problemsOfListed(kind, id, spec, call)));
  const entry = entryOf(kind, id, spec);
  const problems = shown(problemsOf(entry, call));
  if (isOfNode(kind) && !call.objects.find(entry.kind, entry.id))
    problems.push({ pointer: '/spec/node', message: `there is no ${NOUNS[entry.kind]} "${entry.id}"` });
  refuse(problems);
  checkTwins(kind, id, spec, call);
}

const shown = (problems: readonly SettingsProblem[]): FieldError[] =>
  problems.map(({ path, message, suggestion }) => ({
    pointer: `/spec${toPointer(path)}`,
    message: suggestion === undefined ? message : `${message}; did you mean "${suggestion}"?`,
  }));

function refuse(problems: readonly FieldError[]): void {
  if (problems.length > 0) throw invalidBody(problems);
}

function problemsOfPrompt(id: string, spec: EntityDoc, { objects, settings }: Call): readonly FieldError[] {
  const versions = (doc: EntityDoc | undefined): Readonly<Record<string, unknown>> => Object(doc?.['versions'] ?? {});
  const now = versions(spec);
  const changed = Object.entries(versions(objects.find('prompts', id)?.spec)).filter(
    ([number, version]) => valueAt(version, ['digest']) !== undefined && !isDeepStrictEqual(version, now[number]),
  );
  return [
    ...changed.map(([number]) => ({
      pointer: `/spec/versions/${number}`,
      message: `version ${number} is released, and never changes: write a new one`,
    })),
    ...shown(partOf('prompts')?.check(id, spec, settings) ?? []),
  ];
}

/** A kind whose objects are a part of the tree. */
type NodeObject = Exclude<ObjectKind, 'prices' | 'alerts' | CompiledKind>;

const isOfNode = (kind: ObjectKind): kind is 'budgets' | 'limits' => kind === 'budgets' || kind === 'limits';

/** An entry of a settings file with the fields of an object. */
interface FileEntry {
  readonly kind: 'organizations' | 'teams' | 'keys';
  readonly id: string;
  readonly spec: EntityDoc;
  readonly inside: JsonPath;
}

function entryOf(kind: NodeObject, id: string, spec: EntityDoc): FileEntry {
  if (!isOfNode(kind)) return { kind, id, spec, inside: [] };
  const { node, ...rest } = spec;
  const own: EntityDoc = kind === 'budgets' ? { budgets: [rest] } : { limits: rest };
  return { ...nodeOf(node), spec: own, inside: kind === 'budgets' ? ['budgets', 0] : ['limits'] };
}

/** The checks of settings files: that what it names exists, and that its fields agree. */
function problemsOf(
  { kind, id, spec, inside }: FileEntry,
  { objects, settings, clock }: Call,
): readonly SettingsProblem[] {
  // A spec is valid by the schema that these types are generated from.
  const named = <T>(of: 'teams' | 'organizations'): Record<string, T> =>
    Object.fromEntries(objects.list(of).map((object) => [object.id, object.spec as T]));
  const key = { ...spec, id, digest: NO_DIGEST } as GatewayKey;
  const organizations = kind === 'organizations' ? { [id]: spec } : named<Organization>('organizations');
  const teams = kind === 'teams' ? { [id]: spec } : kind === 'keys' ? named<Team>('teams') : {};
  const [file, ...path] = kind === 'keys' ? ['keys.yaml', 'keys', 0, ...inside] : ['teams.yaml', kind, id, ...inside];
  const checked = { keys: kind === 'keys' ? { keys: [key] } : undefined, teams: { organizations, teams } };
  return errorsAt([file, ...path], checked, { settings, clock });
}

/** Problems of a rule of prices.yaml or of a webhook of server.yaml. */
function problemsOfListed(
  kind: 'prices' | 'alerts',
  id: string,
  spec: EntityDoc,
  call: Call,
): readonly SettingsProblem[] {
  // A spec is valid by the schema that these types are generated from.
  if (kind === 'prices') {
    const extras = partOf('prices')?.withRule(call.settings.extras, { ...spec, id });
    return errorsAt(['prices.yaml', 'prices', 0], { extras }, call);
  }
  const [url, secret] = SEALED_OF_ALERTS.map((name) => new Secret(spec[name] as string));
  const server = { alerts: { webhooks: [{ ...spec, id, url, secret }] } } as unknown as ServerFile;
  return errorsAt(['server.yaml', 'alerts', 'webhooks', 0], { server }, call);
}

/** The errors of these settings below a place of a file, at their paths from there. */
function errorsAt(
  [file, ...path]: JsonPath,
  checked: Partial<CheckedSettings>,
  { settings, clock }: Pick<Call, 'settings' | 'clock'>,
): readonly SettingsProblem[] {
  const found: SettingsProblem[] = [];
  checkMeaning(
    {
      server: undefined,
      catalog: settings.catalog,
      keys: undefined,
      extras: settings.extras,
      gateway: new Map(),
      configIds: [...settings.gateway.keys()],
      now: clock.wall(),
      ...checked,
    },
    (name) => (problem) => {
      if (name === file && problem.severity !== 'warning') found.push(problem);
    },
  );
  const own = found.filter((problem) => path.every((segment, index) => problem.path[index] === segment));
  return own.map((problem) => ({ ...problem, path: problem.path.slice(path.length) }));
}

/** A node has one budget that counts the same, and limits in one place. */
function checkTwins(kind: NodeObject, id: string, spec: EntityDoc, { objects, settings }: Call): void {
  const { kind: of, id: node } = isOfNode(kind) ? nodeOf(spec['node']) : { kind, id };
  const ref = `${NOUNS[of]}:${node}`;
  const own = { kind, id, spec };
  const object = isOfNode(kind) ? objects.find(of, node) : own;
  const others = (['budgets', 'limits'] as const).flatMap((one) =>
    objects.list(one).filter((other) => other.spec['node'] === ref && !(one === kind && other.id === id)),
  );
  const all = [...(object ? [object] : []), ...others, ...(isOfNode(kind) ? [own] : [])];
  const counted = all.flatMap((one) => budgetsIn(one, settings).map((budget) => budget.compiled.name));
  const twin = counted.find((name, index) => counted.indexOf(name) < index);
  if (twin !== undefined) throw new ApiProblem('exists', `Another budget counts the same: "${twin}".`);
  const limits = all.filter((one) => one.kind === 'limits' || one.spec['limits'] !== undefined);
  if (limits.length > 1)
    throw new ApiProblem(
      'exists',
      `${ref} has limits in ${limits.map((one) => `${one.kind}/${one.id}`).join(' and ')}: give them in one place.`,
    );
}
