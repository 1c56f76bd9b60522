import { SEALED_OF_ALERTS, SEALED_OF_PROVIDERS } from '../../../../core/settings/source/stored-objects.ts';
import type { Entity, EntityDoc } from '../../../../core/ports/entities.ts';
import type { Call } from '../call.ts';
import type { ObjectKind } from '../routes.ts';
import { invalidBody } from '../schemas.ts';

/** Fields of a spec that the store seals: they are written and never shown. */
interface Sealed {
  readonly fields: readonly string[];
  /** An object has all of them. */
  readonly needed: boolean;
  readonly write: (value: unknown) => string;
  readonly read: (text: string) => unknown;
}
const SEALED: Readonly<Partial<Record<ObjectKind, Sealed>>> = {
  alerts: { fields: SEALED_OF_ALERTS, needed: true, write: String, read: (text) => text },
  // Some of them are objects.
  providers: { fields: SEALED_OF_PROVIDERS, needed: false, write: JSON.stringify, read: JSON.parse },
};

/** The document that the store shows, and what it seals beside it. */
interface SplitSpec {
  readonly doc: EntityDoc;
  /** Undefined: a field that is removed. */
  readonly secrets?: Readonly<Record<string, string | undefined>>;
}

/** @param patch of an object: null removes a field */
export function splitSpec(kind: ObjectKind, spec: EntityDoc, patch: EntityDoc = {}): SplitSpec {
  const sealed = SEALED[kind];
  if (!sealed) return { doc: spec };
  const { fields, write } = sealed;
  const entries = Object.entries(spec);
  const removed = fields.flatMap((name) => (patch[name] === null ? [[name, undefined] as const] : []));
  const secrets = entries.flatMap(([name, value]) => (fields.includes(name) ? [[name, write(value)] as const] : []));
  return {
    doc: Object.fromEntries(entries.filter(([name]) => !fields.includes(name))),
    secrets: Object.fromEntries([...removed, ...secrets]),
  };
}

/** Throws `invalid_body` for a new object without one of its sealed fields. */
export function checkSealed(kind: ObjectKind, spec: EntityDoc): void {
  const { fields = [], needed } = SEALED[kind] ?? {};
  if (needed) refuse(fields.filter((name) => spec[name] === undefined));
}

/** The patched spec with the sealed values that the patch leaves as they are, for the checks. Throws `invalid_body`. */
export async function withSealed(
  kind: ObjectKind,
  { entity, spec, patch }: { readonly entity: Entity; readonly spec: EntityDoc; readonly patch: EntityDoc },
  call: Call,
): Promise<EntityDoc> {
  const sealed = SEALED[kind];
  if (!sealed) return spec;
  const { fields, needed, read } = sealed;
  if (needed) refuse(fields.filter((name) => patch[name] === null));
  const kept = fields.filter((name) => spec[name] === undefined && patch[name] !== null);
  // An import brings no sealed values.
  if (needed) refuse(kept.filter((name) => !entity.sealed.includes(name)));
  const { entities } = call.objects.store;
  const values = kept
    .filter((name) => entity.sealed.includes(name))
    .map(async (name) => [name, read(await entities.unseal(entity, name))] as const);
  return { ...spec, ...(Object.fromEntries(await Promise.all(values)) as EntityDoc) };
}

function refuse(missing: readonly string[]): void {
  if (missing.length > 0)
    throw invalidBody(
      missing.map((name) => ({ pointer: `/spec/${name}`, message: 'an object of this kind needs it' })),
    );
}
