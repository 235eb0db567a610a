"""What an integration does first, with the client that openapi-generator makes of /openapi/v1.json. Prints what it got as JSON."""

import json
import os

import openapi_client as api

configuration = api.Configuration(host=os.environ["API_URL"], access_token=os.environ["API_KEY"])


def create(customers, name):
    answer = customers.create_customer_with_http_info(api.CustomerCreate(name=name), idempotency_key=f"create-{name}")
    return {"id": answer.data.id, "isReplayed": answer.headers.get("Idempotent-Replayed") == "true"}


def refused(call):
    try:
        call()
    except api.ApiException as error:
        assert isinstance(error.data, api.ErrorResponse), error
        return error.data.error


with api.ApiClient(configuration) as client:
    customers = api.CustomersApi(client)
    created = [create(customers, name) for name in ("Ada", "Grace", "Edsger", "Ada")]

    listed, cursor, pages = [], None, 0
    while pages < 10:
        page = customers.list_customers(limit=2, cursor=cursor)
        listed += [customer.name for customer in page.data]
        pages += 1
        cursor = page.cursor
        if cursor is None:
            break

    retrieved = customers.retrieve_customer(created[0]["id"])
    missing = refused(lambda: customers.retrieve_customer("cus_0000000000000000"))
    # The client checks the bounds of a parameter itself; a customer that does not exist is found by the service.
    job = api.JobCreate(customer_id="cus_0000000000000000", service_type="repair", scheduled_at="2026-03-16T14:30:00Z")
    reference = refused(lambda: api.JobsApi(client).create_job(job))
    update = api.JobUpdate(status=api.JobStatus.JobStatusDispatched)
    status = refused(lambda: api.JobsApi(client).update_job("job_0000000000000000", update))

    files = api.FilesApi(client)
    uploaded = files.upload_file("a.txt", b"bytes of a file")
    # The client asks for JSON wherever an answer may be JSON, as errors are.
    downloaded = files.download_file("a.txt", _headers={"Accept": "application/octet-stream"})

print(
    json.dumps(
        {
            "created": created,
            "pages": pages,
            "listed": listed,
            "retrieved": retrieved.name,
            "missing": missing.code,
            "reference": [reference.code, reference.param],
            "status": status.code,
            "uploaded": uploaded.size,
            "downloaded": bytes(downloaded).decode(),
        }
    )
)
