import type { Tracing, TracingOptions } from './open-tracing.ts';
import { readTraceSettings } from './trace-settings.ts';

/**
 * Starts tracing if the environment or server.yaml enables it; otherwise returns undefined without loading the SDK.
 * Throws TraceSettingsError.
 */
export async function startTracing(options: TracingOptions): Promise<Tracing | undefined> {
  const settings = readTraceSettings(options.env, options.yaml);
  if (!settings) return undefined;
  const { openTracing } = await import('./open-tracing.ts');
  return openTracing(options, settings);
}
