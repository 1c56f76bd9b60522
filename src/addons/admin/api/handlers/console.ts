import type { Handler } from '../call.ts';
import type { ConsoleOperation } from '../console-routes.ts';
import { draftKey, draftProvider } from './drafts.ts';
import { findAnything } from './find.ts';
import { getStats, getStream } from './live.ts';
import { sendAsKey, testProvider } from './play.ts';
import { listKinds } from './providers.ts';
import { endSession, getSession } from './session.ts';
import { getPlaces, getSettings, getSettingsFile } from './settings.ts';
import { runTests, tryEffect } from './trials.ts';

export const CONSOLE_HANDLERS: Readonly<Record<ConsoleOperation, Handler>> = {
  'session.get': getSession,
  // It has no caller yet: the call itself makes the session.
  'session.create': getSession,
  'session.delete': endSession,
  'settings.get': getSettings,
  'settings.file': getSettingsFile,
  'settings.places': getPlaces,
  'settings.effect': tryEffect,
  'settings.tests': runTests,
  'find.list': findAnything,
  'stream.get': getStream,
  'stats.get': getStats,
  'providers.kinds': listKinds,
  'providers.test': testProvider,
  'providers.draft': draftProvider,
  'keys.draft': draftKey,
  'playground.create': sendAsKey,
};
