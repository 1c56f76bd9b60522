import type { SnapshotSource } from '../../core/compose/snapshot-part.ts';
import type { PartTools, ProcessPart } from '../../core/process/process-part.ts';
import { composeFiles } from './snapshot.ts';
import { FilesState } from './files-state.ts';
import { compileFiles } from './settings/files.ts';
import { placeStoredFiles } from './stored-files.ts';

/** The stored files of a process. */
export function openFiles({ clock, log, metrics }: PartTools): ProcessPart {
  const state = new FilesState({ clock, log, counted: metrics.filesCounted });
  return {
    ...sourceOf(state),
    stop: () => state.stop(),
    dry: () => sourceOf(undefined),
    isolated: () => sourceOf(undefined),
  };
}

/** @param state undefined in a dry run: fakes take the place of stored files */
export const sourceOf = (state: FilesState | undefined): SnapshotSource => ({
  compose({ settings: { server }, catalog, shared: { clock, upstream, inFlight } }) {
    const { service, source, store } = composeFiles(server.files && compileFiles(server.files), {
      catalog,
      clock,
      upstream,
      state,
      // A file may take minutes: its uploads have a bound and a limit of time of their own.
      reserve: (exchange, bytes) => inFlight.reserve(exchange, bytes, { kept: true }),
    });
    const setup = source && { files: source, reserve: inFlight.reserve.bind(inFlight) };
    return {
      granted: { entry: { files: service } },
      // Gateways that store none have no plugin for them, which would run in every request.
      plugins: server.files ? [{ level: 'entry', name: 'files', before: 'body' }] : [],
      placeFiles: setup && ((exchange, attempt, resolved) => placeStoredFiles(exchange, attempt, resolved, setup)),
      use: () => state?.use(store),
    };
  },
});
