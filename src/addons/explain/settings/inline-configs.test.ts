import { expect, it } from 'vitest';
import { InlineConfigs } from '../../../core/settings/read/inline-configs.ts';

it('a gateway config sent with a request is refused with `explain_id`, for which bodies are kept', () => {
  const configs = new InlineConfigs({ limit: 1000, server: {}, secretHeaders: [], onWarnings() {} });
  const config = '{"provider":"@a","reply_headers":["config_hash","explain_id"]}';
  expect(() => configs.get(config, 'x-gateway-config')).toThrow(
    expect.objectContaining({
      code: 'invalid_config',
      status: 400,
      message: expect.stringContaining('cannot request `explain_id`'),
    }),
  );
});
