/** The request of the sample settings: its key works only from this machine, and only for the simulator. */
export const DEMO_BODY = { model: '@simulator/demo', messages: [{ role: 'user', content: 'hello' }] };

export const demoCurl = (url: string): string =>
  [
    `curl ${url}/v1/chat/completions \\`,
    `  -H 'x-gateway-api-key: gatehouse-demo-key' -H 'content-type: application/json' \\`,
    `  -d '${JSON.stringify(DEMO_BODY)}'`,
  ].join('\n');
