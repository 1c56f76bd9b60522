import { isObject } from '../../../../core/kernel/index.ts';
import type { EntityChange, EntityDoc } from '../../../../core/ports/entities.ts';
import type { Trial } from '../../../../core/process/object-trials.ts';
import type { Diagnostic } from '../../../../core/settings/source/diagnostic.ts';
import { storedEntryName } from '../../../../core/settings/read/stored-catalog.ts';
import type { StoredObject } from '../../../../core/settings/source/stored-objects.ts';
import { valueAt } from '../../../../core/settings/schema/pointer.ts';
import { actorOf, type Call } from '../call.ts';
import { ApiProblem } from '../problems.ts';
import { invalidBody } from '../schemas.ts';
import { splitSpec } from './sealed-fields.ts';

const NO_KEYS =
  'The store seals credentials, and server.yaml has no key for it. Set these lines and restart:\n' +
  'export GATEHOUSE_ENCRYPTION_KEYS="k1:$(openssl rand -base64 32)"\n' +
  'state:\n  encryption_keys: ${env:GATEHOUSE_ENCRYPTION_KEYS}';

/**
 * Writes an entry of the catalog, or a prompt, once all processes serve with it. A dry run only checks it. Throws `settings_refused` with the mistakes.
 * @param spec with all of its secrets; undefined: the entry is deleted
 */
export async function writeEntry(change: EntityChange, spec: EntityDoc | undefined, call: Call): Promise<void> {
  const { sources, objects } = call;
  const { store } = objects;
  const { trials } = sources;
  if (!trials) throw new ApiProblem('no_store', 'server.yaml has no `state`.');
  const { kind, id } = change;
  const trial: Trial = {
    kind: kind === 'prompts' ? kind : 'providers',
    id,
    object: spec && objectOf(change, spec, call),
  };
  if (spec && kind === 'providers') checkSecrets(spec, call);
  refuse((await trials.check(trial)).mistakes, trial);
  if (call.query.dryRun) return;
  refuse(await trials.run(trial, () => store.entities.write([change], actorOf(call))), trial);
}

/** As the store would give it to the loader of the settings. */
function objectOf({ kind, id }: EntityChange, spec: EntityDoc, { identity, clock }: Call): StoredObject {
  const own = { id, by: identity.actor.id, at: clock.wall(), version: 0 };
  if (kind === 'prompts') return { ...own, kind, value: spec };
  const { doc, secrets = {} } = splitSpec('providers', spec);
  const known = Object.entries(secrets).flatMap(([name, text]) => (text === undefined ? [] : [[name, text] as const]));
  return { ...own, kind: 'providers', value: { doc, secrets: Object.fromEntries(known) } };
}

function checkSecrets(spec: EntityDoc, { settings }: Call): void {
  if (Object.hasOwn(spec, 'slug')) throw invalidBody([{ pointer: '/spec/slug', message: 'the id is the slug' }]);
  const reference = referenceIn(spec);
  if (reference !== undefined)
    throw invalidBody([
      { pointer: reference, message: 'the store holds the secret itself, sealed: a reference is for catalog.yaml' },
    ]);
  const { secrets = {} } = splitSpec('providers', spec);
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

function refuse(mistakes: readonly Diagnostic[], { id, kind }: Trial): void {
  const [first] = mistakes;
  if (!first) return;
  const own = storedEntryName(id, kind);
  const errors = mistakes
    .slice(0, 50)
    .map(({ file, line, column, message }) =>
      file === own ? { pointer: '/spec', message } : { pointer: '', message: `${file}:${line}:${column}: ${message}` },
    );
  throw new ApiProblem('settings_refused', `${errors[0]!.message}. Nothing was changed.`, { errors });
}
