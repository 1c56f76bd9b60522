import type { Telemetry, TelemetryOptions } from '../../core/record/telemetry.ts';
import { OtelSettingsError, readOtelSettings } from './otel-settings.ts';

/** Loads the SDK only if the environment or server.yaml enables a signal. Throws OtelSettingsError. */
export async function startOtel(options: TelemetryOptions): Promise<Telemetry | undefined> {
  const settings = readOtelSettings(options.env, options.yaml);
  if (!settings) return undefined;
  try {
    const { openOtel } = await import('./open-otel.ts');
    return await openOtel(options, settings);
  } catch (error) {
    const missing = missingPackage(error);
    throw missing === undefined ? error : new OtelSettingsError(notInstalled(missing));
  }
}

/** npm leaves an optional package out, without a word, if its `engines` refuse the Node that runs npm. */
const notInstalled = (name: string): string =>
  `OpenTelemetry is enabled, and its optional package ${name} is not installed. ` +
  'Install gatehouse-gateway without --omit=optional, by npm on Node 24; or set OTEL_SDK_DISABLED=true.';

/** The package that Node did not find, by the message of its error. */
function missingPackage(error: unknown): string | undefined {
  if (!(error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND')) return undefined;
  return /^Cannot find package '([^']+)'/.exec(error.message)?.[1];
}
