import { relative } from 'node:path';
import type { GatewayKey } from '../../../../schemas/types.generated.ts';
import { GatewayError, Secret } from '../../../plugin/index.ts';
import { DigestRing } from '../../../core/settings/compile/key-ring.ts';
import { Tenants } from '../../../core/settings/compile/tenants.ts';
import type { LoadResult } from '../../../core/settings/read/load.ts';
import { valueAt } from '../../../core/settings/schema/pointer.ts';
import type { EffectVerdict } from './compare.ts';
import type { Sample } from './sample.ts';

/** Fields of a key by which the gateway recognizes its requests. */
const OF_IDENTITY = ['digest', 'key', 'client_certificate', 'bound'] as const;

/**
 * A key that is named by its id is not looked up, so that what `auth` checks is checked here: whether it is disabled, has expired, or is not for the
 * address. Undefined: it admits the request in both versions, or neither does.
 */
export function admissionOf(
  { question, record }: Sample,
  before: LoadResult,
  after: LoadResult,
): EffectVerdict | undefined {
  const id = question.as;
  const [old, now] = [before, after].map(({ settings }) => settings?.keys.keys.find((key) => key.id === id));
  if (!old || !now) return undefined;
  const place = { ...after.placeOf('keys.yaml', ['keys', after.settings?.keys.keys.indexOf(now) ?? 0]) };
  const at = { ...place, file: relative(after.folder, place.file) };
  const unknown = (reason: string): EffectVerdict => ({ kind: 'unknown', unknown: { reason, place: at } });
  if (OF_IDENTITY.some((name) => identityOf(old[name]) !== identityOf(now[name])))
    return unknown('the key has another secret or certificate now');
  const [was, is] = [refusalOf(old, before, record), refusalOf(now, after, record)];
  if (record && was) return unknown('its key is not valid');
  if (record && limitsOf(old, before) !== limitsOf(now, after))
    return unknown('limits or budgets above the key have changed, and depend on all other requests');
  if (was?.code === is?.code) return undefined;
  if (!record && [was?.code, is?.code].includes('network_not_allowed'))
    return unknown('the networks of the key differ, and the question has no address');
  const way = (error: GatewayError | undefined) =>
    error
      ? {
          to: `refused: ${error.code}`,
          targets: [],
          place: at,
          refused: { status: error.clientStatus, code: error.code, message: error.message },
        }
      : { to: 'admitted', targets: [], place: at };
  return { kind: 'changed', before: way(was), after: way(is), fields: [] };
}

/** A secret from a reference is compared by the reference: its value may be a placeholder here. */
const identityOf = (value: unknown): string | undefined =>
  value instanceof Secret && !value.source?.includes(':') ? value.reveal() : JSON.stringify(value);

function limitsOf(key: GatewayKey, { settings }: LoadResult): string {
  const team = settings?.teams.teams?.[key.team ?? ''];
  const nodes = [key, team, settings?.teams.organizations?.[team?.organization ?? '']];
  return JSON.stringify(nodes.map((node) => [valueAt(node, ['limits']), valueAt(node, ['budgets'])]));
}

function refusalOf(key: GatewayKey, { settings }: LoadResult, record: Sample['record']): GatewayError | undefined {
  const tenants = Tenants.of({ keys: { keys: [key] }, teams: settings?.teams ?? {} });
  const ring = new DigestRing(() => tenants, { clock: { wall: () => record?.at ?? Date.now() } });
  try {
    ring.byId(key.id, record?.address ?? '127.0.0.1');
    return undefined;
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
}
