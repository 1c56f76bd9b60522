import type { GatewayKey, Organization, Team } from '../../../schemas/types.generated.ts';
import type { Problem as SettingsProblem } from '../../plugin/index.ts';
import { checkMeaning } from '../../settings/checks/index.ts';
import { toPointer } from '../../settings/read/pointer.ts';
import type { EntityDoc } from '../../state/entities.ts';
import type { Call } from './call.ts';
import type { ObjectKind } from './routes.ts';
import { invalidBody } from './schemas.ts';

/** A digest that no key has: the checks need one. */
const NO_DIGEST = `sha256:${'0'.repeat(64)}`;

/** The checks of settings files on an object: that what it names exists, and that its fields agree. Throws `invalid_body`. */
export function checkReferences(
  kind: ObjectKind,
  id: string,
  spec: EntityDoc,
  { objects, settings, clock }: Call,
): void {
  // A spec is valid by the schema that these types are generated from.
  const named = <T>(of: 'teams' | 'organizations'): Record<string, T> =>
    Object.fromEntries(objects.list(of).map((object) => [object.id, object.spec as T]));
  const key = { ...spec, id, digest: NO_DIGEST } as GatewayKey;
  const organizations = named<Organization>('organizations');
  const teams = kind === 'teams' ? { [id]: spec } : named<Team>('teams');
  const [file, ...path] = kind === 'keys' ? ['keys.yaml', 'keys', 0] : ['teams.yaml', kind, id];
  const found: SettingsProblem[] = [];
  checkMeaning(
    {
      server: undefined,
      catalog: settings.catalog,
      keys: kind === 'keys' ? { keys: [key] } : undefined,
      teams: {
        organizations: kind === 'organizations' ? { [id]: spec } : organizations,
        teams: kind === 'organizations' ? {} : teams,
      },
      gateway: new Map(),
      configIds: [...settings.gateway.keys()],
      prompts: settings.prompts,
      promptIds: [...settings.prompts.keys()],
      now: clock.wall(),
    },
    (name) => (problem) => {
      if (name === file && problem.severity !== 'warning') found.push(problem);
    },
  );
  const own = found.filter((problem) => path.every((segment, index) => problem.path[index] === segment));
  if (own.length === 0) return;
  throw invalidBody(
    own.map((problem) => ({
      pointer: `/spec${toPointer(problem.path.slice(path.length))}`,
      message:
        problem.suggestion === undefined
          ? problem.message
          : `${problem.message}; did you mean "${problem.suggestion}"?`,
    })),
  );
}
