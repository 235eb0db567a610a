"""A service as FastAPI projects write it: every usual kind of operation, and the document that FastAPI generates. It knows of no gateway."""

import asyncio
import os
from datetime import date
from enum import Enum
from typing import Annotated

from fastapi import (
    BackgroundTasks,
    Body,
    Cookie,
    Depends,
    FastAPI,
    File,
    Form,
    Header,
    HTTPException,
    Path,
    Query,
    Request,
    Response,
    UploadFile,
    WebSocket,
    WebSocketDisconnect,
)
from fastapi.middleware.gzip import GZipMiddleware
from fastapi.responses import (
    FileResponse,
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    StreamingResponse,
)
from pydantic import BaseModel, Field

app = FastAPI(title="Warehouse", version="1.0.0")
app.add_middleware(GZipMiddleware, minimum_size=1000)

REPORT = os.environ["REPORT_FILE"]


class Kind(str, Enum):
    bolt = "bolt"
    nut = "nut"


class Dimensions(BaseModel):
    width: float
    height: float | None = None


class NewItem(BaseModel):
    name: str = Field(min_length=1, max_length=100)
    kind: Kind = Kind.bolt
    quantity: int = Field(ge=0)
    tags: list[str] = []
    dimensions: Dimensions | None = None


class Item(NewItem):
    id: int


class ItemChange(BaseModel):
    name: str | None = None
    quantity: int | None = Field(default=None, ge=0)


class Page(BaseModel):
    items: list[Item]
    skip: int
    limit: int
    tags: list[str]


class Credentials(BaseModel):
    username: str
    password: str


def stored(item_id: int) -> Item:
    if item_id > 100:
        raise HTTPException(status_code=404, detail="Item not found")
    return Item(id=item_id, name=f"item {item_id}", quantity=item_id)


@app.get("/items")
def list_items(
    skip: Annotated[int, Query(ge=0)] = 0,
    limit: Annotated[int, Query(ge=1, le=100)] = 10,
    tags: Annotated[list[str] | None, Query()] = None,
    since: date | None = None,
) -> Page:
    return Page(items=[stored(one) for one in range(skip, skip + limit)], skip=skip, limit=limit, tags=tags or [])


@app.post("/items", status_code=201)
def create_item(item: NewItem, response: Response, tasks: BackgroundTasks) -> Item:
    response.headers["Location"] = "/items/7"
    tasks.add_task(lambda: None)
    return Item(id=7, **item.model_dump())


@app.get("/items/{item_id}", responses={404: {"description": "Not found"}})
def read_item(item_id: Annotated[int, Path(ge=1)]) -> Item:
    return stored(item_id)


@app.put("/items/{item_id}")
def replace_item(item_id: int, item: NewItem) -> Item:
    return Item(id=item_id, **item.model_dump())


@app.patch("/items/{item_id}")
def change_item(item_id: int, change: ItemChange) -> Item:
    return stored(item_id).model_copy(update=change.model_dump(exclude_unset=True))


@app.delete("/items/{item_id}", status_code=204)
def delete_item(item_id: int) -> None:
    stored(item_id)


@app.get("/kinds/{kind}")
def read_kind(kind: Kind) -> dict[str, str]:
    return {"kind": kind.value}


@app.post("/login")
def login(username: Annotated[str, Form()], password: Annotated[str, Form(min_length=4)]) -> dict[str, str]:
    return {"username": username}


@app.post("/login-model")
def login_with_model(credentials: Annotated[Credentials, Form()]) -> dict[str, str]:
    return {"username": credentials.username}


@app.post("/upload")
async def upload(
    file: UploadFile, note: Annotated[str, Form()] = "", attachments: list[UploadFile] | None = None
) -> dict[str, object]:
    sizes = [len(await one.read()) for one in attachments or []]
    content = await file.read()
    return {"name": file.filename, "type": file.content_type, "bytes": len(content), "note": note, "others": sizes}


@app.post("/raw")
def raw(content: Annotated[bytes, Body(media_type="application/octet-stream")]) -> dict[str, int]:
    return {"bytes": len(content)}


@app.get("/report")
def report() -> FileResponse:
    return FileResponse(REPORT, filename="report.txt", media_type="text/plain")


@app.get("/export")
def export() -> StreamingResponse:
    def rows():
        yield "id,name\n"
        for number in range(200):
            yield f"{number},item {number}\n"

    disposition = {"Content-Disposition": 'attachment; filename="items.csv"'}
    return StreamingResponse(rows(), media_type="text/csv", headers=disposition)


@app.get("/lines")
def lines() -> StreamingResponse:
    return StreamingResponse((f'{{"id":{number}}}\n' for number in range(5)), media_type="application/x-ndjson")


@app.get("/events")
async def events(request: Request) -> StreamingResponse:
    first = int(request.headers.get("last-event-id", "0")) + 1

    async def stream():
        for number in range(first, 6):
            yield f"id: {number}\nevent: tick\ndata: {number}\n\n"
            await asyncio.sleep(0.05)

    return StreamingResponse(stream(), media_type="text/event-stream", headers={"Cache-Control": "no-cache"})


@app.get("/tree/{file_path:path}")
def read_file(file_path: str) -> dict[str, str]:
    return {"path": file_path}


@app.get("/whoami")
def whoami(
    session: Annotated[str | None, Cookie()] = None, x_device: Annotated[str | None, Header()] = None
) -> dict[str, str | None]:
    return {"session": session, "device": x_device}


@app.post("/session")
def open_session(response: Response) -> dict[str, bool]:
    response.set_cookie("session", "abc", httponly=True, samesite="lax")
    return {"open": True}


@app.get("/moved")
def moved() -> RedirectResponse:
    return RedirectResponse("/items/1")


@app.get("/moved-away")
def moved_away() -> RedirectResponse:
    return RedirectResponse("https://example.com/elsewhere", status_code=302)


@app.get("/page", response_class=HTMLResponse)
def page() -> str:
    return "<!doctype html><title>Warehouse</title><p>It works.</p>"


@app.get("/surprise-page")
def surprise_page() -> Response:
    return HTMLResponse("<p>Declared as JSON.</p>")


@app.get("/drawing")
def drawing() -> Response:
    return Response('<svg xmlns="http://www.w3.org/2000/svg"/>', media_type="image/svg+xml")


@app.get("/text", response_class=PlainTextResponse)
def text() -> str:
    return "plain"


@app.get("/long")
def long() -> dict[str, list[str]]:
    return {"words": ["the same words again"] * 500}


@app.get("/accepted")
def accepted() -> JSONResponse:
    return JSONResponse({"state": "queued"}, status_code=202)


@app.get("/cached")
def cached(request: Request) -> Response:
    headers = {"ETag": '"v1"', "Cache-Control": "public, max-age=60"}
    if request.headers.get("if-none-match") == '"v1"':
        return Response(status_code=304, headers=headers)
    return JSONResponse({"version": 1}, headers=headers)


@app.get("/headers")
def headers() -> Response:
    return JSONResponse({}, headers={"X-Total-Count": "12", "Link": '</items?skip=10>; rel="next"'})


@app.get("/teapot")
def teapot() -> None:
    raise HTTPException(status_code=418, detail="I am a teapot")


@app.get("/busy")
def busy() -> None:
    raise HTTPException(status_code=503, detail="Later", headers={"Retry-After": "3"})


@app.get("/conflict")
def conflict() -> None:
    raise HTTPException(status_code=409, detail={"reason": "taken"})


def current_user(authorization: Annotated[str | None, Header(include_in_schema=False)] = None) -> str:
    raise HTTPException(status_code=401, detail="Not authenticated", headers={"WWW-Authenticate": "Bearer"})


@app.get("/private")
def private(user: Annotated[str, Depends(current_user)]) -> str:
    return user


@app.get("/failure")
def failure() -> None:
    raise RuntimeError("a fault of the service")


@app.websocket("/socket")
async def socket(connection: WebSocket) -> None:
    await connection.accept()
    try:
        while True:
            await connection.send_text(await connection.receive_text())
    except WebSocketDisconnect:
        pass
