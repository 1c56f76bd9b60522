/** Test helpers for plugins: an exchange and a context without a server, a fake clock, and the rules of a chain. */
export { checkPlugin } from './check-plugin.ts';
export type { CheckSetup } from './check-runs.ts';
export {
  createAttempt,
  createContext,
  createExchange,
  createTry,
  type AttemptParts,
  type ExchangeParts,
  type TestExchange,
} from './exchange.ts';
export { createFakeClock, type FakeClock } from './fake-clock.ts';
export { createReply, createSource, readBody, type TestSource } from './reply.ts';
export { createCaller, createConfig, createTarget } from './settings.ts';
export { runPlugin, type HostSetup, type PluginRun, type RunSetup } from './run-plugin.ts';
