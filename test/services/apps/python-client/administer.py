"""The round of an operator and a developer, with the client that openapi-generator makes of /openapi/gateway.json. Prints what it got as JSON."""

import json
import os
import time
import urllib.error
import urllib.request

import openapi_client as api

URL = os.environ["API_URL"]
ORGANIZATION = "org_python"


def client_with(key):
    return api.ApiClient(api.Configuration(host=URL, access_token=key))


def call(key, path):
    """The status of a call to a service behind the gateway, and its request id."""
    request = urllib.request.Request(URL + path, headers={"Authorization": f"Bearer {key}"})
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, answer.headers["X-Request-Id"]
    except urllib.error.HTTPError as error:
        return error.code, error.headers["X-Request-Id"]


def counted_calls(account):
    """Counts are written after seconds."""
    for _ in range(60):
        page = account.get_usage(by="day", group=["operation"], operation_id="listCustomers")
        if page.data and page.data[0].requests >= 2:
            return page.data[0].requests
        time.sleep(0.5)
    return 0


operator = client_with(os.environ["API_KEY"])
created = api.OrganizationsApi(operator).create_organization(
    api.OrganizationCreate(id=ORGANIZATION, name="Python", tier="standard", contacts=[])
)
wanted = api.KeyCreate(mode="live", scopes=["customers:read", "gateway:read", "gateway:keys"])
create_key = api.OrganizationKeysApi(operator).create_organization_key
first = create_key(ORGANIZATION, wanted, idempotency_key="the-first-key-of-python")
again = create_key(ORGANIZATION, wanted, idempotency_key="the-first-key-of-python")

used, _ = call(first.secret, "/v1/customers?limit=1")
refused, refused_id = call(first.secret, "/v1/customers?limit=1000")

own = client_with(first.secret)
explanation = api.RequestsApi(own).explain_request(refused_id)
calls = counted_calls(api.AccountApi(own))

rotated = api.KeysApi(own).rotate_key(first.id, key_rotate=api.KeyRotate(overlap_seconds=3600))
successor = client_with(rotated.secret)
revoked = api.KeysApi(successor).revoke_key(first.id, wait=10, key_revoke=api.KeyRevoke(reason="replaced"))
afterwards, _ = call(first.secret, "/v1/customers?limit=1")

audit = api.OperationApi(operator).list_audit(organization_id=ORGANIZATION)

print(
    json.dumps(
        {
            "created": created.state,
            "again": [again.id == first.id, again.secret, again.secret_shown],
            "used": used,
            "refused": refused,
            "explained": [
                explanation.request.code,
                next(stage.stage for stage in explanation.stages if stage.outcome == "refused"),
            ],
            "remedy": explanation.remedy is not None,
            "calls": calls,
            "replaces": rotated.replaces.id == first.id,
            "revoked": revoked.state,
            "confirmed": revoked.in_force.confirmed,
            "unconfirmed": revoked.in_force.unconfirmed,
            "afterwards": afterwards,
            "audit": [entry.kind for entry in audit.data],
            "authors": list(dict.fromkeys(entry.by[:4] for entry in audit.data)),
            "requests": all(entry.request_id is not None for entry in audit.data),
        }
    )
)
