# Uses the endpoint with FastMCP: python use.py URL KEY READER_KEY

import asyncio
import json
import sys
import uuid

from fastmcp import Client

url, key, reader_key = sys.argv[1:]


def error_of(result):
    return result.structured_content["error"]["code"]


async def main():
    async with Client(url, auth=key) as full, Client(url, auth=reader_key) as reader:

        async def call(client, name, given):
            return await client.call_tool(name, given, raise_on_error=False)

        tools = [tool.name for tool in await full.list_tools()]
        own = [tool.name for tool in await reader.list_tools()]
        customers, pages, cursor = [], 0, None
        while pages == 0 or cursor:
            page = await call(full, "listCustomers", {"limit": 2, **({"cursor": cursor} if cursor else {})})
            customers += page.structured_content["data"]
            cursor = page.structured_content["cursor"]
            pages += 1
        customer = await call(full, "createCustomer", {"body": {"name": "Ada"}})
        job = {
            "idempotency_key": str(uuid.uuid4()),
            "body": {
                "customer_id": customer.structured_content["id"],
                "service_type": "repair",
                "scheduled_at": "2030-01-01T09:00:00Z",
            },
        }
        jobs = {(await call(full, "createJob", job)).structured_content["id"] for _ in range(2)}
        scope = error_of(await call(reader, "createJob", job))
        invalid = error_of(await call(full, "listCustomers", {"limit": 500}))
        limited = []
        for _ in range(60):
            answer = await call(reader, "listCustomers", {"limit": 1})
            if answer.is_error:
                limited.append(error_of(answer))
                break
        print(
            json.dumps(
                {
                    "tools": tools,
                    "own": own,
                    "customers": len(customers),
                    "pages": pages,
                    "jobs": len(jobs),
                    "scope": scope,
                    "invalid": invalid,
                    "limited": limited,
                }
            )
        )


asyncio.run(main())
