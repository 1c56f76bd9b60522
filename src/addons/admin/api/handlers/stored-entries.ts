import { isObject } from '../../../../core/kernel/index.ts';
import type { EntityChange, EntityDoc } from '../../../../core/ports/entities.ts';
import type { Trial } from '../../../../core/process/object-trials.ts';
import type { Diagnostic } from '../../../../core/settings/source/diagnostic.ts';
import { storedName, type CompiledKind } from '../../../../core/settings/source/stored-objects.ts';
import { valueAt } from '../../../../core/settings/schema/pointer.ts';
import { actorOf, type Call } from '../call.ts';
import { ApiProblem } from '../problems.ts';
import { invalidBody } from '../schemas.ts';
import { splitSpec } from './sealed-fields.ts';

const NO_KEYS =
  'The store seals credentials, and server.yaml has no key for it. Set these lines and restart:\n' +
  'export GATEHOUSE_ENCRYPTION_KEYS="k1:$(openssl rand -base64 32)"\n' +
  'state:\n  encryption_keys: ${env:GATEHOUSE_ENCRYPTION_KEYS}';

const NO_REFERENCE = {
  providers: 'the store holds the secret itself, sealed: a reference is for catalog.yaml',
  configs: 'a config of the store has no reference: write it into a file of gateway/',
} as const;

/**
 * Writes an object from which settings are compiled once all processes serve with it. A dry run only checks it. Throws `settings_refused`
 * with the mistakes.
 * @param spec with all of its secrets; undefined: the object is deleted
 */
export async function writeCompiled(change: CompiledChange, spec: EntityDoc | undefined, call: Call): Promise<void> {
  const { sources, clock, objects } = call;
  const { store } = objects;
  const { trials } = sources;
  if (!trials) throw new ApiProblem('no_store', 'server.yaml has no `state`.');
  const { kind, id } = change;
  if (spec && kind !== 'prompts') checkSecrets(kind, spec, call);
  const own = { id, by: call.identity.actor.id, at: clock.wall(), version: 0 };
  const trial: Trial = { kind, id, object: spec && { ...own, ...valueOf(kind, spec) } };
  refuse((await trials.check(trial)).mistakes, trial);
  if (call.query.dryRun) return;
  refuse(await trials.run(trial, () => store.entities.write([change], actorOf(call))), trial);
}

type CompiledChange = EntityChange & { readonly kind: CompiledKind };

/** Throws `invalid_body`. */
function textOf({ text }: EntityDoc): string {
  if (typeof text === 'string') return text;
  throw invalidBody([{ pointer: '/spec/text', message: 'a config needs its text' }]);
}

function valueOf(kind: CompiledKind, spec: EntityDoc) {
  if (kind === 'prompts') return { kind, value: spec };
  if (kind === 'configs') return { kind, value: { text: textOf(spec) } };
  const { doc, secrets = {} } = splitSpec(kind, spec);
  const known = Object.entries(secrets).flatMap(([name, text]) => (text === undefined ? [] : [[name, text] as const]));
  return { kind, value: { doc, secrets: Object.fromEntries(known) } };
}

function checkSecrets(kind: keyof typeof NO_REFERENCE, spec: EntityDoc, { settings }: Call): void {
  if (Object.hasOwn(spec, 'slug')) throw invalidBody([{ pointer: '/spec/slug', message: 'the id is the slug' }]);
  const reference = referenceIn(spec);
  if (reference !== undefined) throw invalidBody([{ pointer: reference, message: NO_REFERENCE[kind] }]);
  const { secrets = {} } = splitSpec(kind, spec);
  if (Object.keys(secrets).length > 0 && valueAt(settings.server, ['state', 'encryption_keys']) === undefined)
    throw new ApiProblem('cannot_seal', NO_KEYS);
}

function referenceIn(value: unknown, pointer = '/spec'): string | undefined {
  if (typeof value === 'string') return /\$\{(?:env|file):/.test(value) ? pointer : undefined;
  const members = Array.isArray(value) ? [...value.entries()] : isObject(value) ? Object.entries(value) : [];
  for (const [name, inner] of members) {
    const found = referenceIn(inner, `${pointer}/${name}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

function refuse(mistakes: readonly Diagnostic[], trial: Trial): void {
  const [first] = mistakes;
  if (!first) return;
  const own = storedName(trial);
  const place = ({ line, column, message }: Diagnostic): string =>
    trial.kind === 'configs' ? `${line}:${column}: ${message}` : message;
  const errors = mistakes
    .slice(0, 50)
    .map((one) =>
      one.file === own
        ? { pointer: '/spec', message: place(one) }
        : { pointer: '', message: `${one.file}:${one.line}:${one.column}: ${one.message}` },
    );
  throw new ApiProblem('settings_refused', `${errors[0]!.message}. Nothing was changed.`, { errors });
}
