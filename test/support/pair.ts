import { onTestFinished } from 'vitest';
import type { GatewayOptions } from '../../src/core/process/gateway-options.ts';
import { startTestGateway, type TestGateway, type TestSettings } from './gateway.ts';
import { entriesFor, startUpstream, type Script, type ScriptedUpstream } from './upstream.ts';

export interface PairSetup extends TestSettings {
  /** In the catalog entries, which are those of `entriesFor` unless `catalog` says otherwise. */
  readonly entry?: object;
  readonly options?: Partial<GatewayOptions>;
}

export interface Pair {
  readonly upstream: ScriptedUpstream;
  readonly gateway: TestGateway;
}

/** A gateway before a scripted upstream; both end with the test that starts them. */
export async function startPair(script: Script, setup: PairSetup | ((url: string) => PairSetup) = {}): Promise<Pair> {
  const upstream = await startUpstream(script);
  onTestFinished(() => upstream.close());
  const { entry, options, ...settings } = typeof setup === 'function' ? setup(upstream.url) : setup;
  const catalog = { providers: entriesFor(upstream.url, entry) };
  const gateway = await startTestGateway({ catalog, ...settings }, options);
  onTestFinished(() => gateway.close());
  return { upstream, gateway };
}
