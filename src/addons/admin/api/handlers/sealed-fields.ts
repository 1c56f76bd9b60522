import { SEALED_OF_ALERTS } from '../../../../core/settings/source/stored-objects.ts';
import type { Entity, EntityDoc } from '../../../../core/ports/entities.ts';
import type { Call } from '../call.ts';
import type { ObjectKind } from '../routes.ts';
import { invalidBody } from '../schemas.ts';

/** Fields of a spec that the store seals: they are written and never shown. */
const SEALED: Readonly<Partial<Record<ObjectKind, readonly string[]>>> = { alerts: SEALED_OF_ALERTS };

const fieldsOf = (kind: ObjectKind): readonly string[] => SEALED[kind] ?? [];

/** The document that the store shows, and what it seals beside it. */
interface SplitSpec {
  readonly doc: EntityDoc;
  readonly secrets?: Readonly<Record<string, string>>;
}

export function splitSpec(kind: ObjectKind, spec: EntityDoc): SplitSpec {
  const fields = fieldsOf(kind);
  if (fields.length === 0) return { doc: spec };
  const entries = Object.entries(spec);
  // The schema of the spec has sealed fields as texts.
  const secrets = entries.filter(([name]) => fields.includes(name)) as [string, string][];
  return {
    doc: Object.fromEntries(entries.filter(([name]) => !fields.includes(name))),
    secrets: Object.fromEntries(secrets),
  };
}

/** Throws `invalid_body` for a new object without one of its sealed fields. */
export function checkSealed(kind: ObjectKind, spec: EntityDoc): void {
  refuse(fieldsOf(kind).filter((name) => spec[name] === undefined));
}

/** The patched spec with the sealed values that the patch leaves as they are, for the checks. Throws `invalid_body`. */
export async function withSealed(
  kind: ObjectKind,
  { entity, spec, patch }: { readonly entity: Entity; readonly spec: EntityDoc; readonly patch: EntityDoc },
  call: Call,
): Promise<EntityDoc> {
  const fields = fieldsOf(kind);
  refuse(fields.filter((name) => patch[name] === null));
  const kept = fields.filter((name) => spec[name] === undefined);
  // An import brings no sealed values.
  refuse(kept.filter((name) => !entity.sealed.includes(name)));
  const values = await Promise.all(kept.map((name) => call.objects.store.entities.unseal(entity, name)));
  return { ...spec, ...Object.fromEntries(kept.map((name, index) => [name, values[index]!])) };
}

function refuse(missing: readonly string[]): void {
  if (missing.length > 0)
    throw invalidBody(
      missing.map((name) => ({ pointer: `/spec/${name}`, message: 'an object of this kind needs it' })),
    );
}
