import type { Plugin } from '../src/core/kernel/index.ts';
import auth from './auth/index.ts';
import body from './body/index.ts';
import cache from './cache/index.ts';
import config from './config/index.ts';
import cors from './cors/index.ts';
import errors from './errors/index.ts';
import metadata from './metadata/index.ts';
import models from './models/index.ts';
import override from './override/index.ts';
import retry from './retry/index.ts';
import route from './route/index.ts';
import send from './send/index.ts';
import telemetry from './telemetry/index.ts';
import transform from './transform/index.ts';

/** The plugins of the core, in the order of the default chains: entry, request, attempt. */
const table: Plugin[] = [
  telemetry,
  cors,
  errors,
  auth,
  models,
  body,
  config,
  metadata,
  route,
  override,
  cache,
  transform,
  retry,
  send,
];

/** The built-in plugins: those of the core, then those of the add-ons. */
export const builtinPlugins: readonly Plugin[] = table;

/** Called while an add-on is registered, before any chain is compiled. */
export const addPlugins = (plugins: readonly Plugin[]): void => void table.push(...plugins);
