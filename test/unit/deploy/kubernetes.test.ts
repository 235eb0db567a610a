// deploy/kubernetes is valid for the Kubernetes API, its objects belong together, and their values are true of the gateway.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import type { Deployment } from 'kubernetes-types/apps/v1.d.ts';
import type { HorizontalPodAutoscaler } from 'kubernetes-types/autoscaling/v2.d.ts';
import type { Secret, Service } from 'kubernetes-types/core/v1.d.ts';
import type { Ingress, NetworkPolicy } from 'kubernetes-types/networking/v1.d.ts';
import type { PodDisruptionBudget } from 'kubernetes-types/policy/v1.d.ts';
import { parse } from 'yaml';
import { z } from 'zod';
import { parseDockerfile } from '../../../deploy/image/dockerfile.ts';
import { gatewayFile } from '../../../gateway/config/gateway/gateway-file.ts';
import { loadConfig } from '../../../gateway/config/load.ts';
import { loadSettings } from '../../../gateway/config/settings.ts';
import type { Mistake } from '../../../gateway/shared/mistakes.ts';
import { complaintsAbout, manifestFiles, manifestsDirectory, readManifests } from '../../support/deploy/manifests.ts';

const read = (path: string) => readFileSync(join(manifestsDirectory, path), 'utf8');
const only = <T>(file: string) => readManifests(file)[0] as unknown as T;

const kustomization = z
  .strictObject({
    apiVersion: z.literal('kustomize.config.k8s.io/v1beta1'),
    kind: z.literal('Kustomization'),
    namespace: z.string(),
    resources: z.array(z.string()),
    images: z.array(z.strictObject({ name: z.string(), newName: z.string(), newTag: z.string() })),
    configMapGenerator: z.array(z.strictObject({ name: z.string(), files: z.array(z.string()) })),
    generatorOptions: z.strictObject({ disableNameSuffixHash: z.literal(true) }),
  })
  .parse(parse(read('kustomization.yaml')));
const deployment = only<Deployment>('deployment.yaml');
const pod = deployment.spec?.template.spec;
const container = pod?.containers[0];
const labels = deployment.spec?.template.metadata?.labels ?? {};
const image = parseDockerfile(read('../../Dockerfile')).at(-1);
const { timeouts } = gatewayFile.parse(parse(read('config/gateway.yaml')));
const page = read('../../docs/config.md');

describe('the objects of deploy/kubernetes', () => {
  let complaints: Record<string, string[]>;
  const wrong = {
    'a misspelled member': { ...deployment, spec: { ...deployment.spec, replica: 2 } },
    'a value of another kind': { ...deployment, spec: { ...deployment.spec, replicas: '2' } },
    'a member that is missing': { ...deployment, spec: { ...deployment.spec, selector: undefined } },
    'a word that the API does not know': { ...only<object>('service.yaml'), kind: 'Service', apiVersion: 'v2' },
  };
  before(async () => {
    const objects = manifestFiles().flatMap((file) =>
      readManifests(file).map((object) => [`${file}: ${object.kind} ${object.metadata.name}`, object] as const),
    );
    assert.ok(objects.length >= 10);
    complaints = await complaintsAbout({ ...Object.fromEntries(objects), ...wrong });
  });

  it('are valid for the API', () => {
    const right = Object.entries(complaints).filter(([name]) => !(name in wrong));
    assert.deepEqual(
      right.flatMap(([name, lines]) => lines.map((line) => `${name}: ${line}`)),
      [],
    );
  });

  for (const name of Object.keys(wrong))
    it(`would be refused with ${name}`, () => assert.ok((complaints[name] ?? []).length > 0));

  it('are all applied, but for the Secrets, which each installation makes itself', () => {
    assert.deepEqual([...kustomization.resources, 'secrets.example.yaml'].sort(), manifestFiles());
    const names = manifestFiles().flatMap((file) =>
      readManifests(file).map(({ kind, metadata }) => `${kind} ${metadata.name}`),
    );
    assert.equal(new Set(names).size, names.length);
  });

  it('are about the same pods', () => {
    const selectors = [
      deployment.spec?.selector.matchLabels,
      only<Service>('service.yaml').spec?.selector,
      only<PodDisruptionBudget>('pod-disruption-budget.yaml').spec?.selector?.matchLabels,
      only<NetworkPolicy>('network-policy.yaml').spec?.podSelector?.matchLabels,
      ...(pod?.topologySpreadConstraints ?? []).map(({ labelSelector }) => labelSelector?.matchLabels),
    ];
    for (const selector of selectors) assert.deepEqual(selector, labels);
    const { scaleTargetRef } = only<HorizontalPodAutoscaler>('horizontal-pod-autoscaler.yaml').spec ?? {};
    assert.deepEqual([scaleTargetRef?.kind, scaleTargetRef?.name], [deployment.kind, deployment.metadata?.name]);
  });
});

describe('the pod', () => {
  const ports = new Map((container?.ports ?? []).map(({ name, containerPort }) => [name, containerPort]));
  const environment = Object.fromEntries((container?.env ?? []).map(({ name, value }) => [name, value]));
  const mountOf = (path: string | undefined) => container?.volumeMounts?.find(({ mountPath }) => mountPath === path);
  const volumeAt = (path: string | undefined) => pod?.volumes?.find(({ name }) => name === mountOf(path)?.name);

  it('is not root, writes nowhere but into its volumes, and has no privileges', () => {
    assert.equal(pod?.securityContext?.runAsNonRoot, true);
    assert.equal(image?.user, `${pod?.securityContext?.runAsUser}:${pod?.securityContext?.runAsGroup}`);
    assert.equal(pod?.securityContext?.seccompProfile?.type, 'RuntimeDefault');
    const { readOnlyRootFilesystem, allowPrivilegeEscalation, capabilities } = container?.securityContext ?? {};
    assert.deepEqual(
      [readOnlyRootFilesystem, allowPrivilegeEscalation, capabilities],
      [true, false, { drop: ['ALL'] }],
    );
    assert.ok(mountOf(image?.environment.GATEWAY_DATA) && mountOf('/tmp'));
  });

  it('sets only variables that the gateway reads', () => {
    const known = new Set([...page.matchAll(/`([A-Z_]+)`/g)].map(([, name]) => name));
    for (const name of Object.keys(environment)) assert.ok(known.has(name), `${name} is not in docs/config.md`);
    const { adminHost, port, adminPort } = loadSettings({ ...image?.environment, ADMIN_HOST: environment.ADMIN_HOST });
    assert.equal(adminHost, '0.0.0.0', 'probes come from the node');
    assert.deepEqual(Object.fromEntries(ports), { http: port, admin: adminPort });
  });

  it('has its configuration and its secrets as whole directories, which are updated', () => {
    const [config] = kustomization.configMapGenerator;
    assert.equal(volumeAt(environment.GATEWAY_CONFIG)?.configMap?.name, config?.name);
    for (const { subPath } of container?.volumeMounts ?? []) assert.equal(subPath, undefined);
    const files = config?.files.map((file) => file.replace('config/', '')).sort();
    assert.deepEqual(files, ['gateway.yaml', 'limits.yaml', 'upstreams.yaml']);
    for (const file of config?.files ?? []) assert.ok(existsSync(join(manifestsDirectory, file)), file);
  });

  it('needs Secrets that secrets.example.yaml describes, with entries that the gateway reads', () => {
    const secrets = new Map(
      (readManifests('secrets.example.yaml') as Secret[]).map((one) => [one.metadata?.name, one]),
    );
    const mounted = secrets.get(volumeAt(environment.SECRETS_DIR)?.secret?.secretName);
    const entries = Object.keys(mounted?.stringData ?? {});
    assert.deepEqual(entries, ['key_pepper', 'admin_token', 'viewer_token']);
    for (const entry of entries) assert.ok(page.includes(`\`${entry}\``), entry);
    const { name, key = '' } = container?.env?.find((one) => one.name === 'REDIS_URL')?.valueFrom?.secretKeyRef ?? {};
    assert.ok(key in (secrets.get(name)?.stringData ?? {}));
    for (const { stringData = {} } of secrets.values())
      assert.deepEqual([...new Set(Object.values(stringData))], ['REPLACE']);
  });

  it('is probed on the admin listener, where probes need no token', () => {
    const probes = [container?.startupProbe, container?.readinessProbe, container?.livenessProbe];
    assert.deepEqual(
      probes.map((probe) => probe?.httpGet?.path),
      ['/livez', '/readyz', '/livez'],
    );
    for (const probe of probes) assert.equal(probe?.httpGet?.port, 'admin');
  });

  it('is taken out of the balancers before it stops serving, and killed after it could have ended', () => {
    const { periodSeconds = 10, failureThreshold = 3 } = container?.readinessProbe ?? {};
    assert.ok(timeouts.drainDelayMs >= periodSeconds * failureThreshold * 1000);
    assert.ok((pod?.terminationGracePeriodSeconds ?? 30) * 1000 >= timeouts.drainDelayMs + timeouts.drainMs + 3000);
  });
});

describe('the objects around the pods', () => {
  it('leads to ports that they have', () => {
    const names = (container?.ports ?? []).map(({ name }) => name);
    const [port] = only<Service>('service.yaml').spec?.ports ?? [];
    assert.ok(names.includes(String(port?.targetPort)));
    const [rule] = only<Ingress>('ingress.yaml').spec?.rules ?? [];
    const backend = rule?.http?.paths[0]?.backend.service;
    assert.deepEqual([backend?.name, backend?.port?.name], [only<Service>('service.yaml').metadata?.name, port?.name]);
    const { ingress = [] } = only<NetworkPolicy>('network-policy.yaml').spec ?? {};
    for (const { ports = [] } of ingress) for (const one of ports) assert.ok(names.includes(String(one.port)));
  });

  it('has the host of publicUrl', () => {
    const { host } = new URL(gatewayFile.parse(parse(read('config/gateway.yaml'))).publicUrl);
    const { rules = [], tls = [] } = only<Ingress>('ingress.yaml').spec ?? {};
    assert.deepEqual([rules.map((rule) => rule.host), tls.flatMap(({ hosts }) => hosts)], [[host], [host]]);
  });

  it('lets the gateway reach its upstreams, and their configuration has no mistake', () => {
    const mistakes: Mistake[] = [];
    const config = loadConfig(join(manifestsDirectory, 'config'), {}, mistakes);
    assert.deepEqual(mistakes, []);
    const { egress = [] } = only<NetworkPolicy>('network-policy.yaml').spec ?? {};
    const open = egress.flatMap(({ to = [], ports = [] }) =>
      to.flatMap(({ namespaceSelector }) =>
        ports.map(({ port }) => `${namespaceSelector?.matchLabels?.['kubernetes.io/metadata.name']}:${port}`),
      ),
    );
    const addresses = Object.values(config.upstreams).flatMap(({ live, test }) => [live, test ?? []].flat(2));
    assert.ok(addresses.length >= 2);
    for (const address of addresses) {
      const { hostname, port } = new URL(address);
      assert.ok(open.includes(`${hostname.split('.')[1]}:${port}`), address);
    }
  });
});
