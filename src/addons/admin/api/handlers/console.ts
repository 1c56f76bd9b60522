import type { Handler } from '../call.ts';
import type { ConsoleOperation } from '../console-routes.ts';
import { CONSOLE_ROUTES } from '../console-routes.ts';
import { ApiProblem } from '../problems.ts';
import { findAnything } from './find.ts';
import { getStats, getStream } from './live.ts';
import { getPlaces, getSettings, getSettingsFile } from './settings.ts';
import { endSession, getSession } from './session.ts';

const missing: Handler = () => {
  throw new ApiProblem('not_found', 'This build does not have this call yet.');
};

export const CONSOLE_HANDLERS: Readonly<Record<ConsoleOperation, Handler>> = {
  ...(Object.fromEntries(Object.keys(CONSOLE_ROUTES).map((operation) => [operation, missing])) as Record<
    ConsoleOperation,
    Handler
  >),
  'session.get': getSession,
  'session.delete': endSession,
  'settings.get': getSettings,
  'settings.file': getSettingsFile,
  'settings.places': getPlaces,
  'find.list': findAnything,
  'stream.get': getStream,
  'stats.get': getStats,
};
