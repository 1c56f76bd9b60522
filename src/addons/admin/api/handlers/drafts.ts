import { calledAs, shellWord } from '../../../../core/commands/terminal/output.ts';
import { isObject } from '../../../../core/kernel/index.ts';
import type { FileDraft, DraftWish } from '../../../../core/process/console-port.ts';
import type { Call, Handler } from '../call.ts';
import { ApiProblem } from '../problems.ts';
import { invalidBody } from '../schemas.ts';
import { createSecret } from '../secrets.ts';
import { consoleOf } from './session.ts';
import { diagnosticsOf, writtenOf } from './settings.ts';

interface DraftBody {
  readonly id: string;
  readonly spec: Readonly<Record<string, unknown>>;
}

const REFERENCE = /\$\{env:([A-Za-z_]\w*)\}/g;
const SECRETS = ['api_key', 'credentials_json', 'private_key'];

export const draftProvider: Handler = async (call) => {
  const { id, spec } = call.body as DraftBody;
  if (call.settings.catalog.providers.some(({ slug }) => slug === id))
    throw new ApiProblem('exists', `The entry "${id}" exists.`);
  if (Object.hasOwn(spec, 'slug')) throw invalidBody([{ pointer: '/spec/slug', message: 'the id is the slug' }]);
  checkNoSecrets(spec);
  const draft = await draftOf(call, { list: 'providers', entry: { slug: id, ...spec } });
  const names = [...JSON.stringify(spec).matchAll(REFERENCE)].map(([, name = '']) => name);
  return {
    body: await shownDraft(
      call,
      draft,
      [...new Set(names)].map((name) => `export ${name}=…`),
    ),
  };
};

/** A patch is text that people pass on: it has no secret. */
function checkNoSecrets(spec: unknown, path = '/spec'): void {
  if (!isObject(spec)) return;
  for (const [name, value] of Object.entries(spec)) {
    const isSecret = SECRETS.includes(name) || path.endsWith('/secret_headers');
    if (isSecret && typeof value === 'string' && !/^\$\{(?:env|file):[^}]+\}$/.test(value))
      throw invalidBody([
        { pointer: `${path}/${name}`, message: 'a patch has no secret: write ${env:NAME} or ${file:PATH}' },
      ]);
    checkNoSecrets(value, `${path}/${name}`);
  }
}

/** The gateway makes the secret of the key, and keeps nothing of it: the patch has its digest. */
export const draftKey: Handler = async (call) => {
  const { id, spec } = call.body as DraftBody;
  if (call.objects.find('keys', id)) throw new ApiProblem('exists', `The key "${id}" exists.`);
  const own = ['id', 'key', 'digest', 'previous'].find((name) => Object.hasOwn(spec, name));
  if (own !== undefined)
    throw invalidBody([{ pointer: `/spec/${own}`, message: 'the gateway makes the secret itself' }]);
  const { text, digest } = createSecret(undefined);
  const entry = { id, digest: digest.includes(':') ? digest : `sha256:${digest}`, ...spec };
  const draft = await draftOf(call, { list: 'keys', entry });
  return { body: { key: text, ...(await shownDraft(call, draft)) } };
};

export const draftPrice: Handler = async (call) => {
  const { id, spec } = call.body as DraftBody;
  if (call.objects.find('prices', id)) throw new ApiProblem('exists', `The price "${id}" exists.`);
  if (Object.hasOwn(spec, 'id'))
    throw invalidBody([{ pointer: '/spec/id', message: 'the id has a member of its own' }]);
  return { body: await shownDraft(call, await draftOf(call, { list: 'prices', entry: { id, ...spec } })) };
};

const draftOf = async (call: Call, wish: DraftWish): Promise<FileDraft> =>
  checked(await consoleOf(call).draft(call.sources.inForce(), wish));

/** Texts in the place of those of the settings files, as a patch of the files. Throws `cannot_patch`. */
export const patchOf = async (call: Call, texts: Readonly<Record<string, string>>): Promise<FileDraft> =>
  checked(await consoleOf(call).patch(call.sources.inForce(), texts));

function checked(draft: FileDraft): FileDraft {
  if (draft.problem !== undefined) throw new ApiProblem('cannot_patch', `${draft.problem}.`);
  return draft;
}

export const shownDraft = async (
  call: Call,
  { folder, file, patch, cut, diagnostics = [] }: FileDraft,
  set: readonly string[] = [],
): Promise<object> => ({
  folder,
  file,
  patch,
  apply: [
    `git apply${cut ? ' --unidiff-zero' : ''} gatehouse.patch && rm gatehouse.patch`,
    `${calledAs(process.env)} validate --configs ${shellWord(folder)}`,
  ],
  set,
  diagnostics: diagnosticsOf(diagnostics, { ...(await writtenOf(call)), nameOf: (path) => path }),
});
