import type { Otel, OtelOptions } from './open-otel.ts';
import { OtelSettingsError, readOtelSettings } from './otel-settings.ts';

/**
 * Starts OpenTelemetry if the environment or server.yaml enables a signal; otherwise returns undefined without loading
 * the SDK. Throws OtelSettingsError.
 */
export async function startOtel(options: OtelOptions): Promise<Otel | undefined> {
  const settings = readOtelSettings(options.env, options.yaml);
  if (!settings) return undefined;
  try {
    const { openOtel } = await import('./open-otel.ts');
    return await openOtel(options, settings);
  } catch (error) {
    throw isMissingPackage(error) ? new OtelSettingsError(NOT_INSTALLED) : error;
  }
}

const NOT_INSTALLED =
  'OpenTelemetry is enabled, and its packages are not installed: install Gatehouse with all of its dependencies.';

const isMissingPackage = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND';
