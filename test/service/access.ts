import { client, http, of, provider, unit, type Chapter } from './statement.ts';

/** Entries, names, keys and errors: how a request reaches a model. */
export const ACCESS: readonly Chapter[] = [
  {
    title: 'Catalog entries',
    statements: [
      of(
        'An entry has a slug of the operator’s choice.',
        client('portkey-headers', 'names the catalog entry by `provider`, with and without @'),
      ),
      of(
        'An entry of the cloud platform has the JSON file of a service account and a region.',
        unit('src/core/providers/vertex-ai/vertex-ai', 'a vertex-ai entry with a service account'),
        provider('credential-sources', 'uses a credentials file, and shows nothing of it'),
      ),
      of(
        'An entry of the cloud platform may have project and region only. Requests then carry an access token in `Authorization`.',
        http('details-request', 'takes the caller’s token, sent %s its scheme'),
        http('details-request', 'asks for a token where the caller has sent none, and asks no upstream'),
      ),
      of(
        'An entry of the vendor’s API has its key. Requests carry only the gateway’s key.',
        http('details-request', 'is never sent a caller’s token that an entry with a key has no use for'),
      ),
      of(
        'An entry without a slug is named after its provider.',
        unit('src/core/settings/read/fill-catalog', 'an entry without a slug is named after its provider'),
      ),
    ],
  },
  {
    title: 'Model names',
    statements: [
      of('`@slug/model` names entry and model.', http('routing', 'where a request goes')),
      of(
        'A bare model name goes with the entry of `x-gateway-provider`, or the SDK’s `provider`.',
        client('portkey-headers', 'names the catalog entry by `provider`, with and without @'),
      ),
      of(
        '`familya.` or `anthropic.` names models of the first family on the cloud platform, with a version date behind `@`.',
        unit('src/core/providers/vertex-ai/locations', '%j (stream %s) has the path %s'),
      ),
      of(
        '`familyb.` or `meta.` names models of the second family on the cloud platform.',
        provider('vertex-models', 'chats'),
      ),
      of('`endpoints.` names a self-deployed model and routes to its endpoint.', provider('vertex-models', 'chats')),
      of(
        'Without `endpoints.` the name of an endpoint is a standard model.',
        provider('vertex-models', 'of an endpoint without its prefix is a standard model'),
      ),
      of(
        'Dated names, `-latest` aliases and preview names go upstream as written.',
        http('routing', 'with its model overridden and every other byte as it came, where both sides speak the same'),
      ),
    ],
  },
  {
    title: 'Authentication',
    statements: [
      of(
        'Every request carries the gateway’s key, in `x-gateway-api-key` or as the SDK’s own key.',
        http('routing', 'is found in %s and never travels upstream'),
      ),
      of(
        '`x-gateway-config` selects a gateway config.',
        client('portkey-headers', 'chooses a gateway config by `config`'),
      ),
      of(
        'A service account in the catalog needs no `Authorization` of the caller.',
        http('credentials', 'Google access tokens'),
      ),
      of(
        'Without the catalog, project, region, provider and token come with the request.',
        http('credentials', 'go to Google with the caller’s token and nowhere else'),
      ),
      of(
        '`x-gateway-provider` names an entry, or a provider whose credentials the request carries.',
        http('routing', 'where a request goes'),
        http('credentials', 'go to Google with the caller’s token and nowhere else'),
      ),
    ],
  },
  {
    title: 'Errors',
    statements: [
      of(
        'A service account without `aiplatform.endpoints.predict` fails with the name of the permission.',
        provider('vertex-models', 'tells of a refusal in the words of the upstream (stream %s)'),
      ),
      of(
        'Errors have the shape of the client’s API, and SDKs throw their own classes.',
        client('errors', 'and throws $name for a $status'),
        http('messages-errors', 'when %s is in Anthropic’s words, with our id'),
      ),
    ],
  },
  {
    title: 'Versions',
    statements: [
      of('Every path of the API begins with `/v1`, or with a version that Google has.', [
        'test/operations/table.test.ts',
        'operations have paths of version 1 of the API, or of the versions that Google has',
      ]),
    ],
  },
];
