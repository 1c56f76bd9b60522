import { createHash } from 'node:crypto';
import { providerNames } from '../../../../core/providers/index.ts';
import { problemOfTexts } from '../../../../core/settings/read/edited-files.ts';
import { readSchema, SCHEMA_NAMES, type Schema } from '../../../../core/settings/schema/schema-files.ts';
import type { Call, Handler } from '../call.ts';
import { ApiProblem } from '../problems.ts';
import { invalidBody } from '../schemas.ts';
import { patchOf, shownDraft } from './drafts.ts';
import { consoleOf } from './session.ts';
import { diagnosticsOf } from './settings.ts';

export const getNames: Handler = (call) => {
  const { catalog, gateway, keys, teams } = call.settings;
  return {
    body: {
      slugs: catalog.providers.map(({ slug }) => slug),
      models: catalog.providers.flatMap(({ slug, models = [] }) => models.map((model) => `@${slug}/${model}`)),
      kinds: providerNames(),
      keys: keys.keys.map(({ id }) => id),
      teams: Object.keys(teams.teams ?? {}),
      configs: [...gateway.keys()],
      prompts: call.objects.names('prompts').map(({ id }) => id),
    },
  };
};

export const getHistory: Handler = async (call) => {
  const versions = await consoleOf(call).history();
  return { body: { items: versions.map((version) => ({ ...version, at: new Date(version.at).toISOString() })) } };
};

interface EditedBody {
  readonly files: Readonly<Record<string, string>>;
  readonly base?: string;
}

/** Throws `invalid_body`. */
export function textsOf({ body }: Call): EditedBody['files'] {
  const { files } = body as EditedBody;
  const problem = problemOfTexts(Object.entries(files));
  if (problem !== undefined) throw invalidBody([{ pointer: '/files', message: problem }]);
  return files;
}

export const validateSettings: Handler = async (call) => {
  const { diagnostics, ...answer } = await consoleOf(call).validate(call.sources.inForce(), textsOf(call));
  const named = diagnosticsOf(diagnostics, { nameOf: (path) => path });
  const more = diagnostics.map(({ message, suggestion, fix }) => ({
    ...(suggestion !== undefined && { message: `${message}; did you mean "${suggestion}"?` }),
    ...(fix && { fix }),
  }));
  return { body: { ...answer, diagnostics: named.map((one, index) => ({ ...one, ...more[index] })) } };
};

export const patchSettings: Handler = async (call) => {
  const { base } = call.body as EditedBody;
  if (base !== undefined && base !== call.sources.inForce().settings.hash)
    throw new ApiProblem('precondition_failed', 'Other settings are in force than those that were edited.');
  return { body: await shownDraft(call, await patchOf(call, textsOf(call))) };
};

const schemas = new Map<string, { readonly body: Schema; readonly headers: { readonly etag: string } }>();

export const getSchema: Handler = ({ id }) => {
  const name = SCHEMA_NAMES.find((one) => one === id);
  if (name === undefined) throw new ApiProblem('not_found', 'There is no schema of this name.');
  const known = schemas.get(name);
  if (known) return known;
  const body = readSchema(name);
  const etag = `"${createHash('sha256').update(JSON.stringify(body)).digest('hex').slice(0, 16)}"`;
  const read = { body, headers: { etag } };
  schemas.set(name, read);
  return read;
};
