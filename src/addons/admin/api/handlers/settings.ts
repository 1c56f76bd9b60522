import type { Diagnostic } from '../../../../core/settings/source/diagnostic.ts';
import type { WrittenSettings } from '../../../../core/process/console-port.ts';
import type { Call, Handler } from '../call.ts';
import { ApiProblem } from '../problems.ts';
import { consoleOf } from './session.ts';

const MAX_DIAGNOSTICS = 50;

/** Throws `not_found` for the hash of other settings. */
export async function writtenOf(call: Call): Promise<WrittenSettings> {
  const written = await consoleOf(call).written(call.sources.inForce());
  const hash = call.query.one('hash');
  if (hash !== undefined && hash !== written.hash)
    throw new ApiProblem('not_found', 'The settings have changed since: their texts are not kept.');
  return written;
}

export const diagnosticsOf = (
  diagnostics: readonly Diagnostic[],
  { nameOf }: Pick<WrittenSettings, 'nameOf'>,
): readonly object[] =>
  diagnostics
    .slice(0, MAX_DIAGNOSTICS)
    .map(({ file, line, column, severity, message }) => ({ file: nameOf(file), line, column, severity, message }));

export const getSettings: Handler = async (call) => {
  const written = await writtenOf(call);
  const { hash, files, configs } = written;
  const { ok, at, inForceSince, diagnostics } = call.sources.lastReload();
  return {
    body: {
      hash,
      loaded_at: new Date(inForceSince).toISOString(),
      reload: { ok, at: new Date(at).toISOString(), diagnostics: diagnosticsOf(diagnostics, written) },
      warnings: diagnosticsOf(call.sources.inForce().warnings, written),
      files,
      configs,
    },
  };
};

export const getSettingsFile: Handler = async (call) => {
  const path = call.query.one('path');
  if (path === undefined) throw new ApiProblem('invalid_query', '`path` is needed: the name of a file.');
  const written = await writtenOf(call);
  const found = written.file(path);
  if (!found) throw new ApiProblem('not_found', 'There is no settings file of this name.');
  return { body: { path, hash: written.hash, ...found } };
};

export const getPlaces: Handler = async (call) => {
  const config = call.query.one('config');
  if (config === undefined) throw new ApiProblem('invalid_query', '`config` is needed: the id of a gateway config.');
  const { hash, places } = await writtenOf(call);
  const found = places(config);
  if (!found) throw new ApiProblem('not_found', 'There is no gateway config of this name.');
  return { body: { config, hash, places: found } };
};
