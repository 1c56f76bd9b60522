import type { Handler } from '../call.ts';
import type { ConsoleOperation } from '../console-routes.ts';
import { draftKey, draftPrice, draftProvider } from './drafts.ts';
import { findAnything } from './find.ts';
import { getStats, getStream } from './live.ts';
import { listFired, listPeople, listPlugins, testAlert } from './observed.ts';
import { sendAsKey, testProvider } from './play.ts';
import { runPrompt } from './prompt-run.ts';
import { draftPrompt, renderPrompt } from './prompts.ts';
import { showPromptCache } from './prompt-cache.ts';
import { listKinds } from './providers.ts';
import { endSession, getSession } from './session.ts';
import { getHistory, getNames, getSchema, patchSettings, validateSettings } from './edited-settings.ts';
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
  'settings.names': getNames,
  'settings.history': getHistory,
  'settings.validate': validateSettings,
  'settings.patch': patchSettings,
  'schemas.get': getSchema,
  'settings.effect': tryEffect,
  'settings.tests': runTests,
  'find.list': findAnything,
  'stream.get': getStream,
  'stats.get': getStats,
  'providers.kinds': listKinds,
  'providers.test': testProvider,
  'providers.draft': draftProvider,
  'keys.draft': draftKey,
  'alerts.fired': listFired,
  'alerts.test': testAlert,
  'plugins.list': listPlugins,
  'people.list': listPeople,
  'prompts.render': renderPrompt,
  'prompts.run': runPrompt,
  'prompts.draft': draftPrompt,
  'prices.draft': draftPrice,
  'prompt-cache.get': showPromptCache,
  'playground.create': sendAsKey,
};
